import { random } from '../../../test/conformance/arrange.ts'
import { runIndexSuite } from '../../../test/conformance/index-suite.ts'
import { testClock } from '../../../test/conformance/state/subject.ts'
import { runStateSuite, type StateUnderTest } from '../../../test/conformance/state-suite.ts'
import { fakeTables } from './fake-tables.ts'
import { dynamodbIndex } from './index-set.ts'
import { dynamodbState } from './state.ts'

/** In the runtime that ships, on tables that refuse every request but those the adapter is known to send. */
async function fake(): Promise<StateUnderTest> {
  const client = fakeTables()
  const clock = testClock()
  const instance = 'acme'
  return {
    open: (module = 'oidc', options = {}) => dynamodbState({ client, instance, module, clock, random, interval: 5, ...options }),
    openIndex: (module = 'oidc') => dynamodbIndex({ client, instance, module, clock, random }),
    clock,
    requests: () => client.calls.length,
  }
}

runStateSuite('dynamodb, on fake tables', fake)
runIndexSuite('dynamodb, on fake tables', fake)
