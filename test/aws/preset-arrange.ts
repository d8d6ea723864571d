import { join } from 'node:path'
import { build, ROOT } from '../../scripts/build.ts'
import { iam } from '../../scripts/iam.ts'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { ssmSecrets } from '../../src/adapters/ssm/secrets.ts'
import type { Documents } from '../../src/config/documents.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { secretAddress } from '../../src/ports/keys.ts'
import { tableName } from '../../src/ports/layout5.ts'
import type { Clock, Fetch, Random } from '../../src/ports/platform.ts'
import type { Secrets } from '../../src/ports/secrets.ts'
import type { State } from '../../src/ports/state.ts'
import { jsonLog, type Log } from '../../src/telemetry/log.ts'
import { ACCOUNT } from '../aws-emulator/call.ts'
import type { Credential } from '../aws-emulator/credentials.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import type { IamPolicy } from '../aws-emulator/iam.ts'
import { clock, random } from '../conformance/arrange.ts'

/** What compose and the app take and give, as far as these tests go: their own types are the Worker's, and this project's are Node's. */
type Compose = (
  env: Variables | { RUNNER: object },
  documents: Documents,
  platform: { clock: Clock; random: Random; fetch: Fetch; log: Log; write(line: string): void },
) => { readiness: object }
type CreateApp = (services: ReturnType<Compose>) => { fetch(request: Request, env: object, context: object): Response | Promise<Response> }
type Variables = Readonly<Record<string, string | undefined>>

const { compose }: { compose: Compose } = await import(join(ROOT, 'src/compose.ts'))
const { createApp }: { createApp: CreateApp } = await import(join(ROOT, 'src/app.ts'))
export const { documents } = await build()

/** Everything of this instance in an AWS account, as docs/operate.md has an operator make it, and who may do what there. */
export interface Account extends AsyncDisposable {
  emulator: AwsEmulator
  /** May do everything. */
  operator: {
    state: State
    secrets: Secrets
    call(service: JsonService, operation: string, input: object): Promise<Record<string, unknown>>
  }
  /** Whom the Worker's credentials are of; a test may change their policy. */
  issuer: Credential
  instance: string
  /** The KMS key's ARN. */
  key: string
  /** What the Worker is told of all this. */
  variables: Variables
}

type JsonService = 'dynamodb' | 'ssm' | 'kms'

/** What `npm run iam` prints for a Worker of ROLE issuer: the credentials of these tests have it, so that nothing needs more. */
function issuerPolicy(region: string, key: string): IamPolicy {
  const { instance } = documents.service
  const place = ['--instance', instance, '--account', ACCOUNT, '--region', region, '--key', key, '--bucket', `sluis-${instance}`]
  return JSON.parse(iam([...place, '--role', 'issuer', '--policy', `sluis-${instance}-issuer-oidc`], {}).stdout)
}
/** @param others who may call beside the operator and the issuer */
export async function openAccount(others: readonly Credential[] = []): Promise<Account> {
  const { instance } = documents.service
  const root: Credential = { accessKeyId: 'AKIAOPERATOR', secretAccessKey: 'operates/everything' }
  const issuer: Credential = { accessKeyId: 'AKIAISSUER', secretAccessKey: 'issues/tokens' }
  const emulator = await startAwsEmulator({
    credentials: [root, issuer, ...others],
    tables: [tableName(instance, 'oidc')],
    buckets: [`sluis-${instance}`],
  })
  const key = emulator.createKey(`alias/sluis-${instance}`)
  issuer.policy = issuerPolicy(emulator.region, key)

  const client = (service: JsonService) =>
    jsonClient({ service, region: emulator.region, endpoint: emulator.url, credentials: root, fetch, clock, random })
  const operator = {
    state: dynamodbState({ client: client('dynamodb'), instance, module: 'oidc', clock, random }),
    secrets: ssmSecrets({ client: client('ssm'), instance }),
    call: (service: JsonService, operation: string, input: object) => client(service).call({ operation, input: { ...input } }),
  }
  await operator.secrets.put(secretAddress.stateSecret, utf8(btoa('s'.repeat(32))))
  await operator.secrets.put(secretAddress.client('backend'), utf8('secret of backend'))
  const variables = {
    PRESET: 'aws',
    AWS_REGION: emulator.region,
    AWS_ENDPOINT_URL: emulator.url,
    AWS_OIDC_ACCESS_KEY_ID: issuer.accessKeyId,
    AWS_OIDC_SECRET_ACCESS_KEY: issuer.secretAccessKey,
  }
  const stop = () => emulator.stop()
  return { emulator, operator, issuer, instance, key, variables, [Symbol.asyncDispose]: stop }
}

/** The Worker in an isolate of its own, without its platform. */
export interface Isolate {
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** What was written of it so far, a line each. */
  logs: string[]
  url: string
}

/** @throws what compose throws; the log has it as the Worker's would */
export function startIsolate(variables: Variables, edit: (documents: Documents) => void = () => {}): Isolate {
  const copy = structuredClone(documents)
  edit(copy)
  const logs: string[] = []
  const log = jsonLog((line) => logs.push(line), clock)
  const app = createApp(compose({ RUNNER: runners, ...variables }, copy, { clock, random, fetch, log, write() {} }))
  const url = copy.service.issuer
  const context = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} }
  return {
    logs,
    url,
    fetch: async (path, init) => app.fetch(new Request(new URL(path, url), { redirect: 'manual', ...init }), {}, context),
  }
}

/** Runners that have just run: there are no Durable Objects in Node, and what becomes of ticks is told elsewhere. */
export const runners = {
  getByName: () => ({
    poke: async () => {},
    async status() {
      const run = { due: null, startedAt: Date.now(), finishedAt: Date.now(), outcome: 'ran' }
      return { kind: 'logout', target: 'all', since: Date.now(), due: null, running: null, last: run, good: run }
    },
  }),
}

/** What the Worker logs when it can't be composed of these. */
export function startFailure(variables: Variables): string {
  const lines: string[] = []
  try {
    startIsolate(variables)
  } catch (error) {
    jsonLog((line) => lines.push(line), clock).error('start.failed', { error })
  }
  return lines.join('\n')
}

/** Spoils every item whose key begins so. Answers what puts them back. */
export async function spoil(
  { operator, instance }: Account,
  prefix: string,
  v: { B: string } | { S: string },
): Promise<() => Promise<void>> {
  const TableName = tableName(instance, 'oidc')
  const { Items } = await operator.call('dynamodb', 'Scan', { TableName, ConsistentRead: true })
  const items = (Items as { lkey: { S: string } }[]).filter(({ lkey }) => lkey.S.startsWith(prefix))
  if (items.length === 0) throw new Error(`nothing stands under ${prefix}`)
  for (const item of items) await operator.call('dynamodb', 'PutItem', { TableName, Item: { ...item, v } })
  return async () => {
    for (const Item of items) await operator.call('dynamodb', 'PutItem', { TableName, Item })
  }
}

/** What `/readyz` says. */
export async function readiness(isolate: Isolate) {
  const answer = await isolate.fetch('/readyz')
  const text = await answer.text()
  const { checks, warnings }: { checks: Record<string, string>; warnings?: string[] } = JSON.parse(text)
  return { status: answer.status, text, checks, warnings }
}
