import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { iam } from '../../scripts/iam.ts'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { s3Client } from '../../src/adapters/aws/s3-client.ts'
import { dynamodbIndex } from '../../src/adapters/dynamodb/index-set.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { tableProblem } from '../../src/adapters/dynamodb/table-problem.ts'
import { kmsSealer } from '../../src/adapters/kms/sealer.ts'
import { s3Blob } from '../../src/adapters/s3/blob.ts'
import { ssmSecrets } from '../../src/adapters/ssm/secrets.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { keys, personId, secretAddress } from '../../src/ports/keys.ts'
import { type Module, modules, tableName } from '../../src/ports/layout5.ts'
import { oneAtATime } from '../../src/ticks/one-at-a-time.ts'
import { ACCOUNT } from '../aws-emulator/call.ts'
import type { Credential } from '../aws-emulator/credentials.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import { clock, random, text } from '../conformance/arrange.ts'

const INSTANCE = 'acme'
const BUCKET = 'acme-sluis'
const KEY = `alias/sluis-${INSTANCE}`
const PARAMETERS = 'alias/parameters'

const admin: Credential = { accessKeyId: 'AKIAADMIN', secretAccessKey: 'administers' }
const issuer: Credential = { accessKeyId: 'AKIAISSUER', secretAccessKey: 'issues' }
let emulator: AwsEmulator

beforeAll(async () => {
  const tables = modules.map((module) => tableName(INSTANCE, module))
  emulator = await startAwsEmulator({ credentials: [admin, issuer], tables, buckets: [BUCKET] })
  const place = ['--instance', INSTANCE, '--account', ACCOUNT, '--region', emulator.region, '--bucket', BUCKET]
  const keyArns = ['--key', emulator.createKey(KEY), '--parameter-key', emulator.createKey(PARAMETERS)]
  const { stdout } = iam([...place, ...keyArns, '--role', 'issuer', '--policy', `sluis-${INSTANCE}-issuer-oidc`], {})
  issuer.policy = JSON.parse(stdout)
})

afterAll(() => emulator.stop())

/** The adapters that somebody's credentials open. */
function adaptersOf(credentials: Credential, module: Module = 'oidc') {
  const shared = sharedBy(credentials)
  const client = jsonClient({ service: 'dynamodb', ...shared })
  const parts = { client, instance: INSTANCE, module, clock, random }
  const state = dynamodbState({ ...parts, peers: module === 'oidc' ? ['google', 'github', 'slack'] : [] })
  return {
    client,
    state,
    restoring: dynamodbState({ ...parts, restore: true }),
    index: dynamodbIndex(parts),
    sealer: kmsSealer({ client: jsonClient({ service: 'kms', ...shared }), keyId: KEY }),
    secrets: ssmSecrets({
      client: jsonClient({ service: 'ssm', ...shared }),
      instance: INSTANCE,
      keyId: PARAMETERS,
      exclusively: oneAtATime({ state, clock, random }, 'secret'),
    }),
    blob: s3Blob({ client: s3Client({ bucket: BUCKET, ...shared }) }),
  }
}

const VALUE = utf8('value')
const refused = { code: 'Unavailable', message: expect.stringContaining('no permission') }

describe('with the policy that npm run iam prints, the issuer', () => {
  test('reads and writes its records and sets', async () => {
    const { state, index, client } = adaptersOf(issuer)
    const ada = personId('ada@acme.example')
    const rev = await state.create(keys.session(ada, 's1'), VALUE, 60)
    const next = await state.update(keys.session(ada, 's1'), VALUE, 60, rev)
    expect((await state.list(keys.sessions)).entries).toHaveLength(1)
    await state.deleteIfRevision(keys.session(ada, 's1'), next)
    await index.add(keys.signInsOf(ada), 'i1', 60)
    expect(await index.members(keys.signInsOf(ada))).toEqual(['i1'])
    for (const key of [
      'lease.keyring:all',
      'notify.logout',
      'dedupe.ops-1',
      'logout-due.e1',
      'issuer:keyring:retired:ES256:k1',
      'par.p1',
    ]) {
      await state.put(key, VALUE, 60)
      expect(await state.get(key), key).not.toBeNull()
      await state.delete(key)
    }
    expect(await tableProblem(client, tableName(INSTANCE, 'oidc'))).toBeNull()
  })

  test('reads the maintenance flag and does not write it', async () => {
    await adaptersOf(admin).restoring.put(keys.maintenance, VALUE, 60)
    expect(await adaptersOf(issuer).state.get(keys.maintenance)).not.toBeNull()
    await expect(adaptersOf(issuer).restoring.put(keys.maintenance, VALUE, 60)).rejects.toMatchObject(refused)
    await expect(adaptersOf(issuer).restoring.delete(keys.maintenance)).rejects.toMatchObject(refused)
    await adaptersOf(admin).restoring.delete(keys.maintenance)
  })

  test('scans nothing', async () => {
    await expect(adaptersOf(issuer).state.list('')).rejects.toMatchObject(refused)
  })

  test("reads its peers' records and writes none", async () => {
    const workspace = keys.googleWorkspace('C01ipl6j0')
    await adaptersOf(admin, 'google').state.put(workspace, VALUE, 60)
    expect((await adaptersOf(issuer).state.get(workspace))?.value).toEqual(VALUE)
    expect((await adaptersOf(issuer).state.list(keys.githubLinks)).entries).toEqual([])
    for (const [module, key] of [
      ['google', workspace],
      ['github', keys.githubLink('1')],
      ['slack', keys.slackWorkspace('T1')],
    ] as const) {
      await expect(adaptersOf(issuer, module).state.put(key, VALUE, 60), module).rejects.toMatchObject(refused)
      await expect(adaptersOf(issuer, module).state.put('lease.any:thing', VALUE, 60), module).rejects.toMatchObject(refused)
    }
    await expect(adaptersOf(issuer, 'cloudflare').state.get('lease.cloudflare-tick:all')).rejects.toMatchObject(refused)
  })

  test('seals and opens for its own instance, and opens a ring of the Go service', async () => {
    const { sealer } = adaptersOf(issuer)
    const own = { instance: INSTANCE, purpose: 'sign' }
    expect(await sealer.open(await sealer.seal(VALUE, own), own)).toEqual(VALUE)

    const other = { instance: 'other', purpose: 'sign' }
    const sealedForOther = await adaptersOf(admin).sealer.seal(VALUE, other)
    await expect(sealer.open(sealedForOther, other)).rejects.toMatchObject(refused)
    await expect(sealer.seal(VALUE, other)).rejects.toMatchObject(refused)

    // Such a ring's context names no instance.
    const theirs = jsonClient({ service: 'kms', ...sharedBy(admin) })
    const EncryptionContext = { purpose: 'sluis-signing', alg: 'ES256', kid: 'k1' }
    const { CiphertextBlob } = await theirs.call({ operation: 'Encrypt', input: { KeyId: KEY, Plaintext: 'eA==', EncryptionContext } })
    const mine = jsonClient({ service: 'kms', ...sharedBy(issuer) })
    expect(await mine.call({ operation: 'Decrypt', input: { KeyId: KEY, CiphertextBlob, EncryptionContext } })).toMatchObject({
      Plaintext: 'eA==',
    })
    const encrypting = mine.call({ operation: 'Encrypt', input: { KeyId: KEY, Plaintext: 'eA==', EncryptionContext } })
    await expect(encrypting).rejects.toMatchObject({ type: 'AccessDeniedException' })
  })

  test("reads and writes clients' secrets, in place under the lease, and lists them", async () => {
    const { secrets } = adaptersOf(issuer)
    const path = secretAddress.client('backend')
    const first = await secrets.putIfVersion(path, utf8('one'), null)
    await secrets.putIfVersion(path, utf8('two'), first)
    const secret = await secrets.get(path, { previous: true })
    expect([text(secret.value), text(secret.previous)]).toEqual(['two', 'one'])
    await secrets.put(secretAddress.generatedClient('web'), utf8('{"schema":"oidc/v1"}'))
    expect(await secrets.list('external/oidc')).toEqual(['external/oidc/web'])
    expect(await secrets.list('internal/oidc/clients')).toEqual([path])
    await secrets.delete(path)
    await expect(secrets.get(path)).rejects.toMatchObject({ code: 'NotFound' })
  })

  test('reads what an operator seeds for it, and never writes it', async () => {
    const signIn = secretAddress.signInClientSecret('google')
    for (const path of [secretAddress.stateSecret, secretAddress.recoveryVerifier, secretAddress.conformanceVerifier, signIn]) {
      await adaptersOf(admin).secrets.put(path, VALUE)
      expect((await adaptersOf(issuer).secrets.get(path)).value).toEqual(VALUE)
      await expect(adaptersOf(issuer).secrets.put(path, utf8('other')), path).rejects.toMatchObject(refused)
      await expect(adaptersOf(issuer).secrets.delete(path), path).rejects.toMatchObject(refused)
    }
  })

  test('has nothing of the passwords, nor of another module, and can not list its way to them', async () => {
    const { secrets } = adaptersOf(issuer)
    for (const path of ['internal/oidc/recovery-password', 'internal/oidc/conformance-password', 'internal/github/apps/link/1']) {
      await adaptersOf(admin).secrets.put(path, VALUE)
      await expect(secrets.get(path), path).rejects.toMatchObject(refused)
      await expect(secrets.put(path, VALUE), path).rejects.toMatchObject(refused)
    }
    for (const prefix of ['', 'internal', 'internal/oidc', 'internal/github'])
      await expect(secrets.list(prefix), prefix).rejects.toMatchObject(refused)
  })

  test('writes its own objects, reads the cache of the directory, and tells an absent one from one it may not read', async () => {
    const { blob } = adaptersOf(issuer)
    await blob.write('oidc/audit/2026-11-30/22/1-a.ndjson', VALUE)
    expect(await blob.list('oidc/')).toEqual(['oidc/audit/2026-11-30/22/1-a.ndjson'])
    await blob.writeStream('oidc/large', new Response(new Uint8Array(9 * 1024 * 1024)).body ?? expect.unreachable())
    await blob.delete('oidc/large')
    await adaptersOf(admin).blob.write('google/cache/C1/1', VALUE)
    expect((await blob.read('google/cache/C1/1')).body).toEqual(VALUE)
    await expect(blob.read('oidc/absent')).rejects.toMatchObject({ code: 'NotFound' })
    await expect(blob.read('github/reports/acme')).rejects.toMatchObject(refused)
    await expect(blob.write('google/cache/C1/1', VALUE)).rejects.toMatchObject(refused)
    await expect(blob.write('github/reports/acme', VALUE)).rejects.toMatchObject(refused)
  })
})

function sharedBy(credentials: Credential) {
  return { region: emulator.region, endpoint: emulator.url, credentials, fetch, clock, random }
}
