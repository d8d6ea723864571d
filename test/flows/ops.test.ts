import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/app.ts'
import { composeOn, type Env } from '../../src/compose.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { type Bytes, hex, utf8 } from '../../src/crypto/bytes.ts'
import { hmacSha256, sha256 } from '../../src/crypto/digest.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { errorOf } from './answers.ts'
import { asBackend, contents, exchange, random, signIn, startService, TestBrowser, testStore } from './harness.ts'

const store = testStore('memory', {
  edit({ service, policy }) {
    service.keyring.rings = ['ES256']
    delete policy.clients.backend?.signing_alg
  },
})
const service = startService(store)
const { instance } = store.documents.service
const SECRET = 'the-secret-of-backend'
const ADDRESS = 'internal/oidc/clients/backend'

interface Signing {
  key?: Bytes
  instance?: string
  /** unix seconds, as text */
  time?: string
  nonce?: string
  /** What is signed, where that is not what is sent. */
  signed?: Bytes
}

const now = () => Math.floor(store.clock.now() / 1000)

/** A request to the operator's route, signed as docs/operate.md says, but for what is changed. */
async function signed(body: Bytes, changes: Signing = {}): Promise<Request> {
  const {
    key = new Uint8Array(32).fill(9),
    instance: named = instance,
    time = String(now()),
    nonce = encodeBase64url(random.bytes(16)),
  } = changes
  const message = ['sluis-ops-v1', named, 'POST', '/ops', time, nonce, hex(await sha256(changes.signed ?? body))].join('\n')
  const signature = hex(await hmacSha256(key, utf8(message)))
  const headers = { 'content-type': 'application/json', 'sluis-time': time, 'sluis-nonce': nonce, 'sluis-signature': signature }
  return new Request('http://localhost:8787/ops', { method: 'POST', body, headers })
}

function command(value: unknown): Bytes {
  return utf8(JSON.stringify(value))
}

const LIST = command({ command: 'secret.list', prefix: '' })
const PUT = command({ command: 'secret.put', path: ADDRESS, value: encodeBase64url(utf8(SECRET)) })

describe('an operator’s command', () => {
  it('that puts a client secret is carried out: /token takes the secret at once', async () => {
    const redeem = async () => {
      const code = (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? ''
      return exchange(service, code, { client_id: 'backend', client_secret: SECRET, redirect_uri: asBackend.redirect_uri })
    }
    expect((await redeem()).status).toBe(401)
    const answer = await service.fetch(await signed(PUT))
    expect([answer.status, await answer.json()]).toEqual([200, { ok: true, version: expect.any(String) }])
    expect((await redeem()).status).toBe(200)
  })

  it('that lists secrets names their addresses, and holds none of them', async () => {
    const text = await (await service.fetch(await signed(LIST))).text()
    expect(JSON.parse(text)).toEqual({ ok: true, paths: [ADDRESS] })
    expect(text).not.toContain(SECRET)
    const below = await service.fetch(await signed(command({ command: 'secret.list', prefix: 'internal/github' })))
    expect(await below.json()).toEqual({ ok: true, paths: [] })
  })

  it('is answered without being kept, and its log lines hold no secret', async () => {
    const answer = await service.fetch(await signed(PUT))
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(service.logs.join('\n')).not.toContain(SECRET)
    expect(service.logs.join('\n')).not.toContain(encodeBase64url(utf8(SECRET)))
  })
})

describe('a command that is not an operator’s, now, for this instance, is not carried out', () => {
  it.each<[string, () => Promise<Request>]>([
    ['unsigned', async () => new Request('http://localhost:8787/ops', { method: 'POST', body: PUT })],
    ['signed with another key', () => signed(PUT, { key: new Uint8Array(32).fill(8) })],
    ['signed for another instance', () => signed(PUT, { instance: 'other' })],
    ['signed for another body', () => signed(PUT, { signed: LIST })],
    ['signed 60 s ago', () => signed(PUT, { time: String(now() - 60) })],
    ['signed 60 s from now', () => signed(PUT, { time: String(now() + 60) })],
    ['signed at a time in milliseconds', () => signed(PUT, { time: String(now() * 1000) })],
    ['signed at a time that is no number', () => signed(PUT, { time: `${now()}.0` })],
    ['signed at no time', () => signed(PUT, { time: '' })],
    ['with a short nonce', () => signed(PUT, { nonce: encodeBase64url(random.bytes(15)) })],
    ['with a long nonce', () => signed(PUT, { nonce: encodeBase64url(random.bytes(17)) })],
    ['with a nonce that is no base64url', () => signed(PUT, { nonce: '!'.repeat(22) })],
    ['without a nonce', () => signed(PUT, { nonce: '' })],
    ['whose signature is in upper case', async () => withHeader(await signed(PUT), 'sluis-signature', (value) => value.toUpperCase())],
    ['whose signature is cut', async () => withHeader(await signed(PUT), 'sluis-signature', (value) => value.slice(0, -2))],
    ['whose time was changed', async () => withHeader(await signed(PUT), 'sluis-time', (value) => String(Number(value) + 1))],
    ['whose nonce was changed', async () => withHeader(await signed(PUT), 'sluis-nonce', () => encodeBase64url(random.bytes(16)))],
  ])('%s', async (_what, request) => {
    const before = [await contents(store), await versionOf(ADDRESS)]
    expect(await errorOf(await service.fetch(await request()), 401)).toMatchObject({ error: 'unauthorized' })
    expect([await contents(store), await versionOf(ADDRESS)]).toEqual(before)
  })

  it.each([-59, 59])('signed %i s from now, is', async (seconds) => {
    expect((await service.fetch(await signed(LIST, { time: String(now() + seconds) }))).status).toBe(200)
  })

  it('a second time: 409 for as long as its signature is good, and 401 after', async () => {
    const request = await signed(PUT, { time: String(now() + 59) })
    const statuses: number[] = []
    let version = ''
    for (const seconds of [0, 0, 60, 58, 1, 1, 1]) {
      store.clock.advance(seconds)
      statuses.push((await service.fetch(request.clone())).status)
      version ||= await versionOf(ADDRESS)
    }
    expect(statuses).toEqual([200, 409, 409, 409, 401, 401, 401])
    expect(await versionOf(ADDRESS)).toBe(version)
  })

  it('two at once with one nonce: one is', async () => {
    const request = await signed(LIST)
    const answers = await Promise.all([service.fetch(request.clone()), service.fetch(request.clone())])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('a command there is not is refused with 400, and names what is wrong with it', () => {
  it.each<[string, Bytes, RegExp]>([
    ['nothing', utf8(''), /JSON/],
    ['no JSON', utf8('{'), /JSON/],
    ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), /JSON/],
    ['a list', command([]), /body/],
    ['null', command(null), /body/],
    ['no command', command({}), /command/],
    ['another command', command({ command: 'secret.get', path: ADDRESS }), /command/],
    ['a path that is no text', command({ command: 'secret.put', path: 1, value: 'eA' }), /path/],
    ['no path', command({ command: 'secret.put', value: 'eA' }), /path/],
    ['no value', command({ command: 'secret.put', path: ADDRESS }), /value/],
    ['a value that is no base64url', command({ command: 'secret.put', path: ADDRESS, value: 'a+/=' }), /value/],
    ['an empty value', command({ command: 'secret.put', path: ADDRESS, value: '' }), /value/],
    ['a field more', command({ command: 'secret.list', prefix: '', depth: 2 }), /depth/],
    ['a path that leaves its place', command({ command: 'secret.put', path: 'internal/../x', value: 'eA' }), /path/],
    ['an empty path', command({ command: 'secret.put', path: '', value: 'eA' }), /path/],
    ['a value too large', command({ command: 'secret.put', path: ADDRESS, value: 'A'.repeat(8_192) }), /6135/],
  ])('%s', async (_what, body, names) => {
    const before = await versionOf(ADDRESS)
    const { error, error_description } = await errorOf(await service.fetch(await signed(body)), 400)
    expect(error).toBe('invalid_request')
    expect(error_description).toMatch(names)
    expect(await versionOf(ADDRESS)).toBe(before)
  })

  it('a body over 64 KiB is too large, before it is looked at', async () => {
    expect((await service.fetch(await signed(new Uint8Array(65_537)))).status).toBe(413)
  })
})

it('without OPS_KEY there is no such route, however a request is signed', async () => {
  const services = composeOn(store.adapters(), store.documents, { clock: store.clock, random, fetch, log: noLog, opsKey: null })
  const answer = await createApp(services).fetch(await signed(PUT), {} as Env)
  expect(await errorOf(answer, 404)).toMatchObject({ error: 'not_found' })
})

function withHeader(request: Request, name: string, change: (value: string) => string): Request {
  const changed = new Request(request)
  changed.headers.set(name, change(request.headers.get(name) ?? ''))
  return changed
}

async function versionOf(path: string): Promise<string> {
  return (await store.adapters().secrets.get(path)).version
}
