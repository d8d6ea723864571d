import type { Index } from '../../../src/ports/index-set.ts'
import type { Module } from '../../../src/ports/layout5.ts'
import type { Clock } from '../../../src/ports/platform.ts'
import type { State } from '../../../src/ports/state.ts'
import type { Case } from '../cases.ts'

/** One store, empty at first, and adapters over it. */
export interface StateUnderTest {
  /** A fresh adapter, module oidc's when none is named: racers are separate adapters. Its watches poll every few milliseconds. */
  open(module?: Module, options?: { restore?: boolean }): Required<State>
  openIndex(module?: Module): Index
  clock: TestClock
  /** How often any of the adapters has asked the engine. */
  requests(): number
}

export interface TestClock extends Clock {
  /** milliseconds */
  advance(ms: number): void
}

/** Starts at the engine's own time, on a whole second: an engine that removes the dead by itself removes none of these. */
export function testClock(): TestClock {
  let now = Math.floor(Date.now() / 1_000) * 1_000
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}

export interface StateCase extends Case<StateUnderTest> {
  /** Run again and again, on a store of its own each time. */
  race?: true
}

export const RACERS = 16

/** seconds */
export const MINUTE = 60
