import { DeleteParameterCommand, GetParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { ssmSecrets } from '../../src/adapters/ssm/secrets.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import type { Fetch } from '../../src/ports/platform.ts'
import { decodeCloudflareCredential, documents } from '../../src/records/external-documents.ts'
import { oneAtATime } from '../../src/ticks/one-at-a-time.ts'
import type { Credential } from '../aws-emulator/credentials.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import { clock, race, random, text } from '../conformance/arrange.ts'
import { runSecretsSuite } from '../conformance/secrets-suite.ts'

const ALIAS = 'alias/parameters'
const full: Credential = { accessKeyId: 'AKIDFULL', secretAccessKey: 'full' }
/** Reads a module's secrets but for one, and may use no key. */
const limited: Credential = {
  accessKeyId: 'AKIDLIMITED',
  secretAccessKey: 'limited',
  policy: {
    Statement: [
      { Effect: 'Allow', Action: 'ssm:*', Resource: 'arn:aws:ssm:*:*:parameter/sluis/*' },
      { Effect: 'Deny', Action: 'ssm:*', Resource: 'arn:aws:ssm:*:*:parameter/sluis/*/internal/oidc/recovery-password' },
    ],
  },
}

let emulator: AwsEmulator
let sdk: SSMClient
let instances = 0

beforeAll(async () => {
  emulator = await startAwsEmulator({ credentials: [full, limited], keyAliases: [ALIAS] })
  const { url: endpoint, region } = emulator
  sdk = new SSMClient({ endpoint, region, credentials: { accessKeyId: full.accessKeyId, secretAccessKey: full.secretAccessKey } })
})
beforeEach(() => {
  emulator.faults.clear()
  emulator.requests.reset()
})
afterAll(async () => {
  sdk.destroy()
  await emulator.stop()
})

interface Opened {
  network?: Fetch
  keyId?: string
  credentials?: Credential
  /** Without it, no turns are taken. */
  turns?: false
}

/** An instance of its own; each adapter is an isolate, which takes its turns at leases in one table. */
function arrange() {
  const instance = `s${++instances}`
  const store = createMemoryStore()
  const { url: endpoint, region } = emulator
  return {
    root: `/sluis/${instance}`,
    open({ network = fetch, keyId, credentials = full, turns }: Opened = {}) {
      const client = jsonClient({ service: 'ssm', endpoint, region, credentials, clock, random, fetch: network, pause: async () => {} })
      const exclusively = oneAtATime({ state: memoryState({ store, clock, module: 'oidc' }), clock, random }, 'secret')
      return ssmSecrets({ client, instance, ...(keyId === undefined ? {} : { keyId }), ...(turns === false ? {} : { exclusively }) })
    },
  }
}

/** Does something else the first time a call of an operation and a body comes. */
function firstTime(instead: (request: () => Promise<Response>) => Promise<Response>): Fetch {
  const seen = new Set<string>()
  return async (input, init) => {
    const call = [new Headers(init?.headers).get('x-amz-target'), text(new Uint8Array(await new Response(init?.body).arrayBuffer()))].join(
      ' ',
    )
    const request = () => fetch(input, init)
    if (seen.delete(call)) return await request() // so that the same call, made again later, loses its first answer too
    seen.add(call)
    return await instead(request)
  }
}

/** Every call is carried out, and its answer lost, before its repetition is answered. */
function forgetful(): Fetch {
  return firstTime(async (request) => {
    await (await request()).body?.cancel()
    throw new TypeError('the connection was lost')
  })
}

function throttling(): Fetch {
  return firstTime(async () => Response.json({ __type: 'ThrottlingException', message: 'Rate exceeded' }, { status: 400 }))
}

runSecretsSuite('ssm', async () => arrange())
runSecretsSuite('ssm, every call throttled once', async () => {
  const { open } = arrange()
  return { open: () => open({ network: throttling() }) }
})
runSecretsSuite(
  'ssm, every answer lost once',
  async () => {
    const { open } = arrange()
    return { open: () => open({ network: forgetful() }) }
  },
  {
    skip: {
      'secrets/version-changes':
        'SSM keeps nothing by which the first version, written again with its own value and the answer lost, differs from the write that made it',
    },
  },
)
runSecretsSuite('ssm, under a KMS key', async () => {
  const { open } = arrange()
  return { open: () => open({ keyId: ALIAS }) }
})

/** What stands in a parameter, as the AWS SDK reads it. */
async function stored(Name: string): Promise<string | undefined> {
  return (await sdk.send(new GetParameterCommand({ Name, WithDecryption: true }))).Parameter?.Value
}

async function seed(Name: string, Value: string): Promise<void> {
  await sdk.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', Overwrite: true }))
}

const EXPIRES = '2026-10-08T12:15:00Z'

describe('the bytes of layout v5', () => {
  const token = documents.cloudflareToken.encode({ token: 'example-cloudflare-token', expires_on: EXPIRES })
  const minted = utf8('{"tokens":[{"id":"example-token-id","expires_on":"2026-10-08T12:15:00Z"}]}')
  const s3 = documents.s3Credentials.encode({ access_key_id: 'example-access-key', secret_access_key: 'example-secret-key' })

  test.each<[string, string, Uint8Array<ArrayBuffer>, string]>([
    ['internal/oidc/state-secret', 'internal/oidc/state-secret', utf8('x'), '{"value":"eA=="}'],
    ['internal/oidc/clients/rp', 'internal/oidc/clients/rp', utf8('key'), '{"value":"a2V5"}'],
    ['internal/oidc/signin/google/client-secret', 'internal/oidc/signin/google/client-secret', new Uint8Array(0), '{"value":""}'],
    ['credentials/oidc/console/session-key', 'internal/oidc/console-session-key', new Uint8Array([0, 1, 2, 255]), '{"value":"AAEC/w=="}'],
    [
      'credentials/github/app/renovate/r1',
      'internal/github/apps/renovate/r1',
      utf8('{"schema":"none"}'),
      '{"value":"eyJzY2hlbWEiOiJub25lIn0="}',
    ],
    [
      'credentials/oidc-client/rp/secret',
      'external/oidc/rp',
      documents.oidc.encode({ 'client-id': 'rp', 'client-secret': 's' }),
      '{"client-id":"rp","client-secret":"s","schema":"oidc/v1"}',
    ],
    ['external/slack/alerts', 'external/slack/alerts', utf8(' {"bot_token" : "x"} '), ' {"bot_token" : "x"} '],
    ['external/cloudflare/p', 'external/cloudflare/p', token, text(token)],
    ['internal/cloudflare/minted/p', 'internal/cloudflare/minted/p', minted, text(minted)],
    [
      'internal/cloudflare/main/minter',
      'internal/cloudflare/main/minter',
      documents.cloudflareMinter.encode({ token: 'example-minter-token' }),
      '{"schema":"cloudflare-minter/v1","token":"example-minter-token"}',
    ],
    ['internal/backup/r2', 'internal/backup/r2', s3, text(s3)],
  ])('%s: the AWS SDK reads what we wrote, and we what it wrote', async (path, place, value, document) => {
    const ours = arrange()
    await ours.open().put(path, value)
    expect(await stored(`${ours.root}/${place}`)).toBe(document)

    const theirs = arrange()
    await seed(`${theirs.root}/${place}`, document)
    expect((await theirs.open().get(path)).value).toEqual(value)
  })

  test('a document an operator seeded with other tools is what its decoder takes', async () => {
    const { root, open } = arrange()
    await seed(`${root}/external/cloudflare/p`, '{ "schema": "cloudflare/v1", "token": "t", "expires_on": "2026-10-08T12:15:00Z" }\n')
    const { value } = await open().get('external/cloudflare/p')
    expect(decodeCloudflareCredential(value)).toEqual({ form: 'token', credential: { token: 't', expires_on: EXPIRES } })
  })

  test('version, date and the value before are what SSM keeps of them', async () => {
    const { root, open } = arrange()
    await seed(`${root}/internal/oidc/a`, '{"value":"Zmlyc3Q="}')
    await open().put('internal/oidc/a', utf8('second'))
    const kept = (await sdk.send(new GetParameterCommand({ Name: `${root}/internal/oidc/a` }))).Parameter
    const secret = await open().get('internal/oidc/a', { previous: true })
    expect(secret).toEqual({ value: utf8('second'), previous: utf8('first'), version: '2', modified: kept?.LastModifiedDate?.getTime() })
    expect(kept).toMatchObject({ Type: 'SecureString', Version: 2 })
  })

  test('an advanced parameter takes a short value again', async () => {
    const { root, open } = arrange()
    await open().put('internal/oidc/a', new Uint8Array(6_135))
    await open().put('internal/oidc/a', utf8('short'))
    expect(await stored(`${root}/internal/oidc/a`)).toBe('{"value":"c2hvcnQ="}')
  })
})

describe('two isolates that update one secret', () => {
  test('each read and add to it in turns: nothing is lost, and every version is the next', async () => {
    const { open } = arrange()
    const path = 'internal/oidc/counter'
    await open().put(path, utf8('0'))
    const count = async (isolate: ReturnType<typeof open>) => {
      for (let done = 0; done < 5; ) {
        const { value, version } = await isolate.get(path)
        const { won } = await race(1, () => isolate.putIfVersion(path, utf8(String(Number(text(value)) + 1)), version))
        done += won.length
      }
    }
    await Promise.all([count(open({ network: forgetful() })), count(open())])
    expect(await open().get(path, { previous: true })).toMatchObject({ value: utf8('10'), previous: utf8('9'), version: '11' })
  })

  test('both land when neither asks for a version, one as the value before the other', async () => {
    const { open } = arrange()
    const path = 'internal/google/workspaces/C01/key'
    await open().put(path, utf8('old'))
    const { won } = await race(2, (n) => open().put(path, utf8(`new ${n}`)))
    expect(won.map(({ value }) => value).sort()).toEqual(['2', '3'])
    const { value, previous } = await open().get(path, { previous: true })
    expect([text(value), text(previous)].sort()).toEqual(['new 0', 'new 1'])
  })
})

describe('a write whose answer is lost', () => {
  test('over a secret is not repeated: the value before it stays within reach', async () => {
    const { open } = arrange()
    await open().put('internal/oidc/a', utf8('first'))
    emulator.faults.set({ next: [{ service: 'ssm', operation: 'PutParameter', after: 1, fault: 'dropAnswer' }] })
    expect(await open().put('internal/oidc/a', utf8('second'))).toBe('2')
    expect(await open().get('internal/oidc/a', { previous: true })).toMatchObject({ value: utf8('second'), previous: utf8('first') })
  })

  test('over a secret, and which never arrived, is Unavailable and changed nothing', async () => {
    const { open } = arrange()
    await open().put('internal/oidc/a', utf8('first'))
    for (const fault of ['dropRequest', 'fail'] as const) {
      emulator.faults.set({ next: [{ service: 'ssm', operation: 'PutParameter', after: 1, fault }] })
      await expect(open().put('internal/oidc/a', utf8('second'))).rejects.toMatchObject({ code: 'Unavailable' })
      expect(await open().get('internal/oidc/a')).toMatchObject({ value: utf8('first'), version: '1' })
    }
  })

  test('of a new secret is recognised, even when none of its answers arrived', async () => {
    const { open } = arrange()
    emulator.faults.set({ next: [{ service: 'ssm', operation: 'PutParameter', times: 3, fault: 'dropAnswer' }] })
    expect(await open().putIfVersion('internal/oidc/a', utf8('x'), null)).toBe('1')
  })
})

describe('requests', () => {
  test('reads begun together are one for every ten, and absent ones are found out in the same', async () => {
    const { open } = arrange()
    const paths = Array.from({ length: 12 }, (_, n) => `internal/oidc/clients/c${n}`)
    for (const path of paths.slice(1)) await open().put(path, utf8(path))
    emulator.requests.reset()
    const secrets = open()
    const read = await Promise.allSettled(paths.map((path) => secrets.get(path)))
    expect(read.map((one) => (one.status === 'fulfilled' ? text(one.value.value) : one.reason.code))).toEqual([
      'NotFound',
      ...paths.slice(1),
    ])
    expect(emulator.requests.counts).toEqual({ 'ssm.GetParameters': 2 })
  })

  test('a fresh ref is one request; an update is one read and one write; a value before costs one more', async () => {
    const { open } = arrange()
    const secrets = open()
    const version = await secrets.put('credentials/github/link/299386/r1', utf8('pair'))
    expect(emulator.requests.counts).toEqual({ 'ssm.PutParameter': 1 })
    emulator.requests.reset()
    await secrets.putIfVersion('internal/github/links/299386/r1', utf8('next'), version)
    expect(emulator.requests.counts).toEqual({ 'ssm.GetParameter': 1, 'ssm.PutParameter': 1 })
    emulator.requests.reset()
    await secrets.get('credentials/github/link/299386/r1', { previous: true })
    expect(emulator.requests.counts).toEqual({ 'ssm.GetParameters': 1, 'ssm.GetParameter': 1 })
  })

  test('a listing takes a page of ten a request', async () => {
    const { open } = arrange()
    const paths = Array.from({ length: 25 }, (_, n) => `internal/oidc/clients/c${String(n).padStart(2, '0')}`)
    for (const path of paths) await open().put(path, utf8('x'))
    emulator.requests.reset()
    expect(await open().list('internal/oidc/clients')).toEqual(paths)
    expect(emulator.requests.counts).toEqual({ 'ssm.GetParametersByPath': 3 })
  })
})

describe('what a credential may not do', () => {
  test('one secret it may not read hides no other that is read with it', async () => {
    const { open } = arrange()
    await open().put('internal/oidc/recovery-password', utf8('for operators'))
    await open().put('internal/oidc/state-secret', utf8('for the issuer'))
    const secrets = open({ credentials: limited })
    const [denied, allowed] = await Promise.allSettled([
      secrets.get('internal/oidc/recovery-password'),
      secrets.get('internal/oidc/state-secret'),
    ])
    expect(denied).toMatchObject({ reason: { code: 'Unavailable', message: expect.stringContaining('no permission') } })
    expect(allowed).toMatchObject({ value: { value: utf8('for the issuer') } })
  })

  test('a secret whose key it may not use is Unavailable, and named', async () => {
    const { root, open } = arrange()
    await open({ keyId: ALIAS }).put('internal/oidc/a', utf8('sealed'))
    const read = open({ credentials: limited }).get('internal/oidc/a')
    await expect(read).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining(`${root}/internal/oidc/a`) })
  })

  test('a key that does not exist is named with the parameter it was to encrypt', async () => {
    const { root, open } = arrange()
    const write = open({ keyId: 'alias/nobody' }).put('internal/oidc/a', utf8('x'))
    await expect(write).rejects.toMatchObject({
      code: 'Unavailable',
      message: expect.stringContaining(`${root}/internal/oidc/a is encrypted under`),
    })
  })
})

describe('without turns', () => {
  test('a put and a deletion work, and an update over a version is refused', async () => {
    const { root, open } = arrange()
    const secrets = open({ turns: false })
    const version = await secrets.put('internal/oidc/a', utf8('first'))
    expect(await secrets.put('internal/oidc/a', utf8('second'))).not.toBe(version)
    await expect(secrets.putIfVersion('internal/oidc/a', utf8('third'), version)).rejects.toMatchObject({ code: 'Unsupported' })
    await secrets.delete('internal/oidc/a')
    await expect(sdk.send(new DeleteParameterCommand({ Name: `${root}/internal/oidc/a` }))).rejects.toMatchObject({
      name: 'ParameterNotFound',
    })
  })
})
