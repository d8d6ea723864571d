import type { JsonClient } from '../../src/adapters/aws/aws.ts'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { dynamodbIndex } from '../../src/adapters/dynamodb/index-set.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { type Module, modules, tableName } from '../../src/ports/layout5.ts'
import type { Fetch } from '../../src/ports/platform.ts'
import type { AwsEmulator } from '../aws-emulator/emulator.ts'
import { clock, random } from '../conformance/arrange.ts'
import { testClock } from '../conformance/state/subject.ts'
import type { StateUnderTest } from '../conformance/state-suite.ts'

export interface ClientOptions {
  fetch?: Fetch
  /** Waits before a repetition. Not at all by default: an emulator is not spared by waiting. */
  pause?: (ms: number) => Promise<void>
}

/** The client as compose opens it, on the machine's own clock: a test's clock judges records, not signatures. */
export function clientOf(emulator: AwsEmulator, { fetch = globalThis.fetch, pause = async () => {} }: ClientOptions = {}): JsonClient {
  const [credentials] = emulator.credentials
  return jsonClient({ service: 'dynamodb', region: emulator.region, endpoint: emulator.url, credentials, fetch, clock, random, pause })
}

let instances = 0

/** The tables of an instance of its own. */
export async function freshInstance(emulator: AwsEmulator, of: readonly Module[] = modules): Promise<string> {
  instances += 1
  const instance = `t${instances}`
  await emulator.createTables(of.map((module) => tableName(instance, module)))
  return instance
}

/** What the suites need, on tables of its own; each adapter speaks through `client`. */
export async function dynamodb(
  emulator: AwsEmulator,
  client: JsonClient = clientOf(emulator),
): Promise<StateUnderTest & { instance: string }> {
  const instance = await freshInstance(emulator, ['oidc', 'github', 'slack'])
  const clock = testClock()
  let requests = 0
  const counting: JsonClient = {
    call(call) {
      requests += 1
      return client.call(call)
    },
  }
  return {
    instance,
    open: (module = 'oidc', options = {}) => dynamodbState({ client: counting, instance, module, clock, random, interval: 20, ...options }),
    openIndex: (module = 'oidc') => dynamodbIndex({ client: counting, instance, module, clock, random }),
    clock,
    requests: () => requests,
  }
}
