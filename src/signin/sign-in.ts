import type { Person } from '../config/service.ts'

/** The ways this installation signs people in. Built by compose. */
export interface WaysIn {
  /** Whom the picker offers; null where there is no picker. */
  picker: readonly Person[] | null
}
