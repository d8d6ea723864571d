import { durableObjectIndex } from '../../src/adapters/durable-object/index-set.ts'
import type { Op } from '../../src/adapters/durable-object/protocol.ts'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { random } from './arrange.ts'
import { runIndexSuite } from './index-suite.ts'
import { connectionLost, type Fate, freshInstance, shardNetwork, someDelays } from './shard-network.ts'
import { testClock } from './state/subject.ts'
import { runStateSuite, type StateUnderTest } from './state-suite.ts'

/** Objects of an instance of its own, over a network where messages overtake one another; each adapter speaks for itself. */
function objects(fateOf: (ops: readonly Op[]) => Fate): StateUnderTest {
  const clock = testClock()
  const instance = freshInstance()
  const namespace = shardNetwork((ops) => ({ delays: someDelays(), ...fateOf(ops) }))
  return {
    open: (module = 'oidc', options = {}) => durableObjectState({ namespace, instance, module, clock, random, interval: 20, ...options }),
    openIndex: (module = 'oidc') => durableObjectIndex({ namespace, instance, module, clock, random }),
    clock,
    requests: () => namespace.messages.length,
  }
}

async function sound(): Promise<StateUnderTest> {
  return objects(() => ({}))
}

/** The first answer to every op is lost after the object did it; a conditional deletion, which is not repeated, is spared. */
async function forgetful(): Promise<StateUnderTest> {
  const done = new WeakSet<Op>()
  return objects((ops) => {
    const spared = ops.some((op) => op.do === 'deleteIfRevision' || done.has(op))
    for (const op of ops) done.add(op)
    return spared ? {} : { loses: connectionLost() }
  })
}

runStateSuite('durable-object', sound, { races: 3 })
runIndexSuite('durable-object', sound)

runStateSuite('durable-object, where every answer is lost once', forgetful, {
  races: 3,
  skip: {
    'cas/counter-race': 'an update that was overtaken before its lost answer was asked for again is Conflict, so its writer adds once more',
  },
})
runIndexSuite('durable-object, where every answer is lost once', forgetful)
