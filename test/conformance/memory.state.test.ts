import { memoryIndex } from '../../src/adapters/memory/index-set.ts'
import { type Scheduler, seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { runIndexSuite } from './index-suite.ts'
import { testClock } from './state/subject.ts'
import { runStateSuite, type StateUnderTest } from './state-suite.ts'

let seed = 0

/** A store whose racers interleave as the next seed has it. */
async function memory(): Promise<StateUnderTest> {
  const store = createMemoryStore()
  const clock = testClock()
  const seeded = seededScheduler(seed++)
  let pauses = 0
  const scheduler: Scheduler = {
    pause() {
      pauses += 1
      return seeded.pause()
    },
  }
  return {
    open: (module = 'oidc', options = {}) => memoryState({ store, clock, module, scheduler, interval: 5, ...options }),
    openIndex: (module = 'oidc') => memoryIndex({ store, clock, module, scheduler }),
    clock,
    requests: () => pauses,
  }
}

// 200: enough seeds that each of 16 racers wins in some of them.
runStateSuite('memory', memory, { races: 200 })
runIndexSuite('memory', memory)
