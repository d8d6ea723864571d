import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT } from '../../scripts/build.ts'
import { iam } from '../../scripts/iam.ts'
import type { Directory } from '../../src/directory/directory.ts'
import { connectWorkspace, disconnectWorkspace, type WorkspacesParts } from '../../src/directory/google/workspaces.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { tableName } from '../../src/ports/layout5.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { createRunner, type RunnerMemory } from '../../src/ticks/runner.ts'
import type { Ticks } from '../../src/ticks/tick.ts'
import { ACCOUNT } from '../aws-emulator/call.ts'
import type { Credential } from '../aws-emulator/credentials.ts'
import { clock, random } from '../conformance/arrange.ts'
import { type GoogleServer, startGoogle } from '../e2e/google-server.ts'
import { ADMIN, smallTenant } from '../google/tenant.ts'
import { type Account, documents, openAccount, runners } from './preset-arrange.ts'

interface Services {
  issuer: { directory: Directory }
  operations: { workspaces: WorkspacesParts }
  ticks: Ticks
}
const { compose }: { compose(env: object, documents: object, platform: object): Services } = await import(join(ROOT, 'src/compose.ts'))

const ADA = personId('ada@acme.example')
let account: Account
let google: GoogleServer
let services: Services

beforeAll(async () => {
  const reader: Credential = { accessKeyId: 'AKIAGOOGLE', secretAccessKey: 'reads/directories' }
  ;[account, google] = await Promise.all([openAccount([reader]), startGoogle(smallTenant())])
  const { emulator, instance, key, variables } = account
  await emulator.createTables([tableName(instance, 'google')])
  const place = ['--instance', instance, '--account', ACCOUNT, '--region', emulator.region, '--key', key, '--bucket', `sluis-${instance}`]
  reader.policy = JSON.parse(iam([...place, '--role', 'controllers', '--policy', `sluis-${instance}-controllers-google`], {}).stdout)
  const env = {
    ...variables,
    RUNNER: runners,
    AWS_GOOGLE_ACCESS_KEY_ID: reader.accessKeyId,
    AWS_GOOGLE_SECRET_ACCESS_KEY: reader.secretAccessKey,
    GOOGLE_ENDPOINT: google.origin,
  }
  const copy = structuredClone(documents)
  Object.assign(copy.service, { directory: { kind: 'google', people: [] } })
  Object.assign(copy.service.signin, { picker: false })
  services = compose(env, copy, { clock, random, fetch, log: noLog, write() {} })
})
afterAll(async () => {
  await Promise.all([account[Symbol.asyncDispose](), google[Symbol.asyncDispose]()])
})

/** Runs a tick as its object does, lease and report included. */
async function runTick(kind: string, target: string): Promise<string | undefined> {
  let kept: unknown = null
  const memory: RunnerMemory = {
    read: async () => kept,
    async update(change) {
      kept = change(kept)?.kept ?? kept
    },
  }
  const runner = createRunner({ memory, ticks: () => services.ticks, subrequests: () => 800, clock, random, log: noLog })
  await runner.poke({ kind, target, due: null })
  await runner.run()
  return (await runner.status())?.last?.outcome
}

test('with the policies that npm run iam prints, a Workspace is connected, read, asked and let go, and nothing is denied', async () => {
  const parts: WorkspacesParts = services.operations.workspaces
  await connectWorkspace({ key: google.google.keyFile, admin: ADMIN, by: 'operator' }, parts)
  expect(await runTick('refresh', 'C01acme')).toBe('ran')
  expect(await runTick('refresh-probe', 'all')).toBe('ran')

  const said = await services.issuer.directory.resolve(ADA)
  expect(said).toMatchObject({ state: 'live', given_name: 'Ada' })
  expect(said.state === 'live' && said.groups).toContain('engineering@acme.example')
  expect(await account.operator.state.get(keys.held(ADA))).not.toBeNull()

  await disconnectWorkspace('C01acme', parts)
  expect(await parts.blob.list('google/cache/')).toEqual([])
  expect(Object.keys(account.emulator.requests.refused).filter((type) => /AccessDenied/.test(type))).toEqual([])
})
