import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { errorOf } from './answers.ts'
import {
  asBackend,
  contents,
  exchange,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  testStore,
  verifier,
} from './harness.ts'

const SECRET = `a b+c%/?:&=ü"'漢` // all that form-encoding changes
const DOCUMENT = (secret: unknown) => JSON.stringify({ schema: 'oidc/v1', 'client-id': 'generated', 'client-secret': secret })

function confidentialStore(): TestStore {
  return testStore('memory', {
    edit({ service, policy }) {
      service.keyring.rings = ['ES256'] // an RSA key takes its time
      const { backend } = policy.clients
      if (backend === undefined) return
      delete backend.signing_alg
      policy.clients.generated = { ...backend, secret: 'external/oidc/generated' }
    },
  })
}

const store = confidentialStore()
const { secrets } = store.adapters()
await secrets.put('internal/oidc/clients/backend', utf8(SECRET))
await secrets.put('external/oidc/generated', utf8(DOCUMENT('generated-secret')))
const service = startService(store)

function basic(id: string, secret: string): { authorization: string } {
  const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
  return rawBasic(`${encoded(id)}:${encoded(secret)}`)
}

function rawBasic(text: string): { authorization: string } {
  return { authorization: `Basic ${btoa(text)}` }
}

async function backendCode(client_id = 'backend', at: TestService = service): Promise<string> {
  return (await signIn(new TestBrowser(at), { ...asBackend, client_id })).searchParams.get('code') ?? ''
}

/** A code presented with these parameters beside it; an undefined one is left out. */
function present(
  code: string,
  changes: Record<string, string | undefined>,
  headers: Record<string, string> = {},
  at = service,
): Promise<Response> {
  const { redirect_uri } = asBackend
  const all = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier, ...changes }
  const body = new URLSearchParams(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
  return at.fetch('/token', { method: 'POST', body, headers })
}

describe('RFC 6749 2.3.1: a client with a secret', () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['in the header, form-encoded', {}, basic('backend', SECRET)],
    [
      'in the header, with the scheme in another case',
      {},
      { authorization: basic('backend', SECRET).authorization.replace('Basic', 'bASIC') },
    ],
    ['in the header, and its id in the body', { client_id: 'backend' }, basic('backend', SECRET)],
    ['in the body', { client_id: 'backend', client_secret: SECRET }, {}],
  ])('authenticates %s', async (_what, parameters, headers) => {
    expect((await present(await backendCode(), parameters, headers)).status).toBe(200)
  })

  it('that was generated authenticates with the secret of its document', async () => {
    const answer = await present(await backendCode('generated'), {}, basic('generated', 'generated-secret'))
    expect(answer.status).toBe(200)
  })
})

describe('RFC 6749 5.2: a client that is not who it says is refused, and its code stays good', () => {
  const header = true
  it.each<[string, Record<string, string>, Record<string, string>, string, boolean?]>([
    ['confidential, without a secret', { client_id: 'backend' }, {}, 'invalid_client'],
    ['confidential, with an empty secret in the body', { client_id: 'backend', client_secret: '' }, {}, 'invalid_client'],
    ['confidential, with an empty secret in the header', {}, basic('backend', ''), 'invalid_client', header],
    ['confidential, with a wrong secret in the body', { client_id: 'backend', client_secret: 'wrong' }, {}, 'invalid_client'],
    ['confidential, with a wrong secret in the header', {}, basic('backend', 'wrong'), 'invalid_client', header],
    ['confidential, with half its secret', {}, basic('backend', SECRET.slice(0, -1)), 'invalid_client', header],
    ['confidential, with its secret in another case', {}, basic('backend', SECRET.toUpperCase()), 'invalid_client', header],
    ['confidential, with the secret of another', {}, basic('backend', 'generated-secret'), 'invalid_client', header],
    ['confidential, with the address of its secret', {}, basic('backend', 'internal/oidc/clients/backend'), 'invalid_client', header],
    ['generated, with its whole document', {}, basic('generated', DOCUMENT('generated-secret')), 'invalid_client', header],
    ['public, with a secret in the body', { client_id: 'demo', client_secret: 'x' }, {}, 'invalid_client'],
    ['public, with a secret in the header', {}, basic('demo', 'x'), 'invalid_client', header],
    ['unknown', { client_id: 'nobody' }, {}, 'invalid_client'],
    ['unknown, in the header', {}, basic('nobody', 'x'), 'invalid_client', header],
    ['a name of every object', { client_id: 'constructor', client_secret: 'x' }, {}, 'invalid_client'],
    ['nobody', {}, {}, 'invalid_request'],
    ['confidential, in two ways', { client_secret: SECRET }, basic('backend', SECRET), 'invalid_request'],
    ['one in the header, another in the body', { client_id: 'demo' }, basic('backend', SECRET), 'invalid_request'],
    ['by an assertion', { client_id: 'backend', client_assertion: 'e30.e30.' }, {}, 'invalid_client'],
    ['in a header of another scheme', {}, { authorization: 'Bearer abc' }, 'invalid_client', header],
    ['in a header without credentials', {}, { authorization: 'Basic' }, 'invalid_client', header],
    ['in a header that is no base64', {}, { authorization: 'Basic !!!!' }, 'invalid_client', header],
    ['in a header without a colon', {}, rawBasic('backend'), 'invalid_client', header],
    ['in a header without an id', {}, rawBasic(':secret'), 'invalid_client', header],
    ['in a header with half an escape', {}, rawBasic('backend:%2'), 'invalid_client', header],
    ['in a header that is no UTF-8', {}, rawBasic('backend:\xff'), 'invalid_client', header],
    ['in a header that is not form-encoded', {}, rawBasic('backend:a b+c'), 'invalid_client', header],
  ])('%s', async (_what, parameters, headers, error, inHeader = false) => {
    const code = await backendCode()
    const before = await contents(store)
    const answer = await present(code, parameters, headers)
    expect(answer.headers.get('www-authenticate')).toBe(inHeader ? 'Basic realm="token", charset="UTF-8"' : null)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await errorOf(answer, error === 'invalid_client' ? 401 : 400)).toMatchObject({ error })
    expect(await contents(store)).toEqual(before)
    expect((await present(code, {}, basic('backend', SECRET))).status).toBe(200)
  })

  it('an unknown client reads as one whose secret is wrong', async () => {
    const unknown = await errorOf(await present('x', {}, basic('nobody', 'x')), 401)
    expect(await errorOf(await present('x', {}, basic('backend', 'x')), 401)).toEqual(unknown)
  })

  it('before its grant is looked at', async () => {
    expect(await errorOf(await present('no such code', { client_id: 'backend' }), 401)).toMatchObject({ error: 'invalid_client' })
  })
})

describe('a rotated secret', () => {
  const rotated = confidentialStore()
  const at = startService(rotated)

  async function status(secret: string): Promise<number> {
    return (await present(await backendCode('backend', at), {}, basic('backend', secret), at)).status
  }

  it('is good for 24 hours beside the new one, and no second longer', async () => {
    const { secrets } = rotated.adapters()
    await secrets.put('internal/oidc/clients/backend', utf8('first'))
    rotated.clock.advance(1_000)
    await secrets.put('internal/oidc/clients/backend', utf8('second'))
    expect([await status('first'), await status('second')]).toEqual([200, 200])
    rotated.clock.advance(86_399)
    expect([await status('first'), await status('second')]).toEqual([200, 200])
    rotated.clock.advance(1)
    expect([await status('first'), await status('second')]).toEqual([401, 200])
  })

  it('is gone at once when the next one is put', async () => {
    await rotated.adapters().secrets.put('internal/oidc/clients/backend', utf8('third'))
    rotated.clock.advance(60) // what an isolate may keep a secret for
    expect([await status('first'), await status('second'), await status('third')]).toEqual([401, 200, 200])
  })
})

describe('what is no secret authenticates nobody', () => {
  it.each<[string, string, string, Uint8Array<ArrayBuffer> | null]>([
    ['none at its address', 'backend', 'x', null],
    ['an empty one', 'backend', '', utf8('')],
    ['bytes that are no text', 'backend', '\ufffd', new Uint8Array([0xff])],
    ['a document that is no JSON', 'generated', '{', utf8('{')],
    ['a document of another schema', 'generated', 's', utf8('{"schema":"oidc/v2","client-id":"generated","client-secret":"s"}')],
    ['a document without its secret', 'generated', '', utf8(DOCUMENT(undefined))],
    ['a document with an empty secret', 'generated', '', utf8(DOCUMENT(''))],
    ['a document whose secret is no text', 'generated', '1', utf8(DOCUMENT(1))],
  ])('%s', async (_what, client_id, presented, kept) => {
    const own = confidentialStore()
    const address = client_id === 'backend' ? 'internal/oidc/clients/backend' : 'external/oidc/generated'
    if (kept !== null) await own.adapters().secrets.put(address, kept)
    const at = startService(own)
    const code = await backendCode(client_id, at)
    const answer = await present(code, {}, basic(client_id, presented), at)
    expect(await errorOf(answer, 401)).toMatchObject({ error: 'invalid_client' })
    const events = at.logs.map((line) => JSON.parse(line).event)
    const expected = kept === null ? 'client.secret_missing' : 'client.secret_unreadable'
    expect(events.filter((event) => event.startsWith('client.secret'))).toEqual([expected])
  })
})

it('a public client needs no secret, and PKCE', async () => {
  const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
  expect((await exchange(service, code)).status).toBe(200)
})
