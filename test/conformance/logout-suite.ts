import { runCases, type Skips } from './cases.ts'
import { dueCases } from './logout/due.ts'
import { leaseCases } from './logout/leases.ts'
import { rowCases } from './logout/rows.ts'
import type { LogoutCase, LogoutStoreUnderTest } from './logout/subject.ts'

export type { LogoutStoreUnderTest } from './logout/subject.ts'

export interface LogoutStoreSuiteOptions {
  skip?: Skips
  /** How often each race is run, on a store of its own each time: as many orders as the factory can give. */
  races?: number
}

/**
 * What the logout store holds on every State (seed: logout-session-store; docs/design.md, "Logout"). Each case has a table of its own, empty
 * at first. Runs in workerd and in Node.
 */
export function runLogoutStoreSuite(
  name: string,
  factory: () => Promise<LogoutStoreUnderTest>,
  { skip, races = 1 }: LogoutStoreSuiteOptions = {},
): void {
  const repeated = (one: LogoutCase): LogoutCase => ({
    ...one,
    async holds(first) {
      await one.holds(first)
      for (let round = 1; round < races; round++) await one.holds(await factory())
    },
  })
  const cases = [...rowCases, ...leaseCases, ...dueCases].map((one) => (one.race === true ? repeated(one) : one))
  runCases(`Logout store: ${name}`, cases, factory, skip)
}
