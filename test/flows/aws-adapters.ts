import type { AwsService, JsonClient } from '../../src/adapters/aws/aws.ts'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { dynamodbIndex } from '../../src/adapters/dynamodb/index-set.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { tableProblem } from '../../src/adapters/dynamodb/table-problem.ts'
import { kmsSealer } from '../../src/adapters/kms/sealer.ts'
import { memoryBlob } from '../../src/adapters/memory/blob.ts'
import { ssmSecrets } from '../../src/adapters/ssm/secrets.ts'
import type { Adapters } from '../../src/compose.ts'
import { tableName } from '../../src/ports/layout5.ts'
import type { Clock, Random } from '../../src/ports/platform.ts'
import { oneAtATime } from '../../src/ticks/one-at-a-time.ts'
import type { ProvidedAws } from './provided.ts'

export interface AwsOptions {
  /** Waits before a repetition; the real ones when absent. */
  pause?: (ms: number) => Promise<void>
}

const random: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) }

/** Signs by the machine's own time, whatever a test's clock says of records. */
function clientOf(aws: ProvidedAws, service: Exclude<AwsService, 's3'>, { pause }: AwsOptions = {}): JsonClient {
  const { url: endpoint, region, credentials } = aws
  const clock: Clock = { now: () => Date.now() }
  return jsonClient({ service, region, credentials, endpoint, fetch, clock, random, ...(pause === undefined ? {} : { pause }) })
}

/** A client of DynamoDB whose first call makes the instance's table. */
export function tableClient(aws: ProvidedAws, instance: string): JsonClient {
  const client = clientOf(aws, 'dynamodb')
  let made: Promise<void> | undefined
  return {
    async call(call) {
      made ??= makeTable(client, tableName(instance, 'oidc'))
      await made
      return client.call(call)
    },
  }
}

/** The table of an instance, made before anything befalls its store. */
export function makeTableOf(aws: ProvidedAws, instance: string): Promise<void> {
  return makeTable(clientOf(aws, 'dynamodb'), tableName(instance, 'oidc'))
}

async function makeTable(client: JsonClient, TableName: string): Promise<void> {
  const input = {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  }
  await client.call({ operation: 'CreateTable', input })
  while (await tableProblem(client, TableName)) await new Promise((wait) => setTimeout(wait, 1))
}

/** What compose opens for one isolate of preset `aws`. */
export function awsAdapters(aws: ProvidedAws, { instance, clock }: { instance: string; clock: Clock }, options: AwsOptions = {}): Adapters {
  const dynamodb = clientOf(aws, 'dynamodb', options)
  const placed = { client: dynamodb, instance, module: 'oidc' as const, clock, random }
  const state = dynamodbState(placed)
  return {
    state,
    index: dynamodbIndex(placed),
    secrets: ssmSecrets({ client: clientOf(aws, 'ssm', options), instance, exclusively: oneAtATime({ state, clock, random }, 'secret') }),
    blob: memoryBlob(),
    sealer: kmsSealer({ client: clientOf(aws, 'kms', options), keyId: 'alias/sluis-tests' }),
  }
}
