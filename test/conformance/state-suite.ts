import { describe, it } from 'vitest'
import { type Case, runCases, type Skips } from './cases.ts'
import { compareAndSwapCases } from './state/compare-and-swap.ts'
import { keyCases } from './state/keys.ts'
import { leaseCases } from './state/lease.ts'
import { lifetimeCases } from './state/lifetimes.ts'
import { limitCases } from './state/limits.ts'
import { listingCases } from './state/listing.ts'
import { ownerCases } from './state/owner.ts'
import { revisionCases } from './state/revisions.ts'
import type { StateCase, StateUnderTest } from './state/subject.ts'
import { watchCases } from './state/watch.ts'

export type { StateUnderTest } from './state/subject.ts'

export interface StateSuiteOptions {
  skip?: Skips
  /** How often each race is run, on a store of its own each time: as many orders as the factory can give. */
  races?: number
}

/** What every State adapter holds (seed: adr-0027-state-port; docs/design.md, "Ports"). Each case has a store of its own, empty at first. */
export function runStateSuite(name: string, factory: () => Promise<StateUnderTest>, { skip, races = 1 }: StateSuiteOptions = {}): void {
  const cases = stateCases.map((one) => (one.race === true ? { ...one, holds: many(one, races, factory) } : one))
  runCases(`State: ${name}`, cases, factory, skip)

  describe(`State: ${name}, cases of the reference that are no rule of this port here`, () => {
    for (const [id, reason] of Object.entries(notHere)) it.skip(`${id} (${reason})`, () => undefined)
  })
}

export const stateCases: readonly StateCase[] = [
  ...compareAndSwapCases,
  ...revisionCases,
  ...leaseCases,
  ...lifetimeCases,
  ...limitCases,
  ...listingCases,
  ...keyCases,
  ...ownerCases,
  ...watchCases,
]

const notHere = {
  'identity/verify': 'there is no Identity port: clients prove themselves to the issuer',
  'trigger/notify': 'a Trigger here is a hint nobody subscribes to: the tick reads it',
  'export/*': 'the Export port is retired: consumers read the external documents',
  'document-store/*': 'there is no document store under Secrets: each adapter keeps versions itself',
}

function many(one: Case<StateUnderTest>, races: number, factory: () => Promise<StateUnderTest>): (first: StateUnderTest) => Promise<void> {
  return async (first) => {
    await one.holds(first)
    for (let round = 1; round < races; round++) await one.holds(await factory())
  }
}
