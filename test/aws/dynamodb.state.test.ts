import { afterAll, beforeAll } from 'vitest'
import type { JsonCall, JsonClient } from '../../src/adapters/aws/aws.ts'
import type { Fetch } from '../../src/ports/platform.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import { runIndexSuite } from '../conformance/index-suite.ts'
import { runStateSuite } from '../conformance/state-suite.ts'
import { clientOf, dynamodb } from './dynamodb-arrange.ts'

let emulator: AwsEmulator
beforeAll(async () => {
  emulator = await startAwsEmulator()
})
afterAll(() => emulator.stop())

/** Each call over a network of its own making. */
function clientOver(networkOf: (call: JsonCall) => Fetch): JsonClient {
  return { call: (call) => clientOf(emulator, { fetch: networkOf(call) }).call(call) }
}

const sound = () => dynamodb(emulator)

/** The first answer to every call is lost after it was carried out; a conditional deletion, which can't know itself, is spared. */
const forgetful = () =>
  dynamodb(
    emulator,
    clientOver(({ operation, input }) => {
      let lost = operation === 'DeleteItem' && String(input.ConditionExpression).includes('#rev')
      return async (...request) => {
        const response = await fetch(...request)
        if (lost) return response
        lost = true
        await response.arrayBuffer()
        throw new TypeError('fetch failed')
      }
    }),
  )

/** Every third call is throttled once, as DynamoDB says it: nothing was done. */
function throttled() {
  let calls = 0
  return dynamodb(
    emulator,
    clientOver(() => {
      calls += 1
      let spared = calls % 3 !== 0
      return async (...request) => {
        if (spared) return fetch(...request)
        spared = true
        const answer = { __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', message: 'Too much' }
        return Response.json(answer, { status: 400 })
      }
    }),
  )
}

runStateSuite('dynamodb', sound, { races: 5 })
runIndexSuite('dynamodb', sound)

runStateSuite('dynamodb, where every answer is lost once', forgetful, {
  races: 3,
  skip: {
    'cas/counter-race': 'an update that was overtaken before its lost answer was asked for again is Conflict, so its writer adds once more',
  },
})
runIndexSuite('dynamodb, where every answer is lost once', forgetful)

runStateSuite('dynamodb, where one call in three is throttled', throttled, { races: 3 })
runIndexSuite('dynamodb, where one call in three is throttled', throttled)
