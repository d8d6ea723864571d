import { describe, it } from 'vitest'

/** One rule of a port. `id` is what an adapter names to skip it. */
export interface Case<Subject> {
  id: string
  rule: string
  holds(subject: Subject): Promise<void>
}

/** Case ids with the reason why the adapter can't hold them: a skip is visible in the report. */
export type Skips = Record<string, string>

/**
 * Runs every case, each on a subject of its own.
 *
 * @throws Error: a skip names no case, or has no reason
 */
export function runCases<Subject>(suite: string, cases: readonly Case<Subject>[], factory: () => Promise<Subject>, skip: Skips = {}): void {
  for (const [id, reason] of Object.entries(skip)) {
    if (!cases.some((one) => one.id === id)) throw new Error(`${suite} skips ${id}, which is no case of the suite`)
    if (reason.trim() === '') throw new Error(`${suite} skips ${id} without a reason`)
  }

  describe(suite, () => {
    for (const { id, rule, holds } of cases) {
      const reason = skip[id]
      if (reason === undefined) it(`${id}: ${rule}`, async () => holds(await factory()))
      else it.skip(`${id}: ${rule} (skipped: ${reason})`, () => undefined)
    }
  })
}
