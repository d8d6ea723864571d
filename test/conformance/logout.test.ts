import { inject } from 'vitest'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { tableClient } from '../flows/aws-adapters.ts'
import { random } from './arrange.ts'
import { runLogoutStoreSuite } from './logout-suite.ts'
import { connectionLost, freshInstance, shardNetwork, someDelays } from './shard-network.ts'
import { testClock } from './state/subject.ts'

let seed = 0

// 200 orders: enough that each of the racers wins in some of them.
runLogoutStoreSuite(
  'memory',
  async () => {
    const store = createMemoryStore()
    const clock = testClock()
    const scheduler = seededScheduler(seed++)
    return { state: () => memoryState({ store, clock, module: 'oidc', scheduler }), clock }
  },
  { races: 200 },
)

runLogoutStoreSuite(
  'durable-object',
  async () => {
    const clock = testClock()
    const instance = freshInstance()
    const namespace = shardNetwork(() => ({ delays: someDelays() }))
    return { state: () => durableObjectState({ namespace, instance, module: 'oidc', clock, random }), clock }
  },
  { races: 5 },
)

/** Of every message the first answer is lost after the object did it; one with a conditional deletion, which is not repeated, is spared. */
runLogoutStoreSuite(
  'durable-object, where every answer is lost once',
  async () => {
    const clock = testClock()
    const instance = freshInstance()
    const sent = new WeakSet<object>()
    const namespace = shardNetwork((ops) => {
      const spared = ops.some((op) => op.do === 'deleteIfRevision' || sent.has(op))
      for (const op of ops) sent.add(op)
      return spared ? {} : { loses: connectionLost() }
    })
    return { state: () => durableObjectState({ namespace, instance, module: 'oidc', clock, random }), clock }
  },
  { races: 3 },
)

runLogoutStoreSuite(
  'dynamodb',
  async () => {
    const clock = testClock()
    const instance = freshInstance()
    const client = tableClient(inject('awsEmulator'), instance)
    return { state: () => dynamodbState({ client, instance, module: 'oidc', clock, random }), clock }
  },
  { races: 5 },
)
