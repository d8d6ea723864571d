import { describe, expect, it } from 'vitest'
import { callOps, type OpsCommand } from '../../scripts/ops-client.ts'
import { localSealer } from '../../src/adapters/local/sealer.ts'
import type { Adapters } from '../../src/compose.ts'
import type { SigningAlg } from '../../src/config/values.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { authorizeUrl, random, signedIn, startService, type TestService, type TestStore, testStore, userinfo } from './harness.ts'

const SECRET = 'internal/oidc/state-secret'
const OPEN = ['/healthz', '/keys', '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']
const SHUT: [string, string][] = [
  ['GET', '/'],
  ['GET', '/userinfo'],
  ['POST', '/token'],
  ['POST', '/revoke'],
  ['POST', '/introspect'],
  ['POST', '/device_authorization'],
  ['GET', '/login?auth=x'],
  ['GET', '/account'],
  ['GET', '/end_session'],
  ['GET', '/api/sessions'],
]

function ask(service: TestService, store: TestStore, command: OpsCommand): Promise<Record<string, unknown>> {
  const target = { issuer: service.url, instance: store.documents.service.instance, opsKey: encodeBase64url(new Uint8Array(32).fill(9)) }
  return callOps(target, command, {
    now: store.clock.now,
    random: random.bytes,
    fetch: (url, init) => service.fetch(url, { ...init, signal: null }),
  })
}

/** A store that was served with one state secret, and has another now. */
async function otherSecret() {
  const store = testStore('memory')
  const first = startService(store)
  const tokens = await signedIn(first)
  await first.fetch('/readyz') // as the cron does: keeps the fingerprint
  await store.adapters().secrets.put(SECRET, utf8(btoa('x'.repeat(32))))
  return { store, service: startService(store), tokens }
}

describe('with another state secret than its instance was started with, an isolate', () => {
  it('answers keys, discovery and health, and nobody else', async () => {
    const { service, tokens } = await otherSecret()
    for (const path of OPEN) expect((await service.fetch(path)).status, path).toBe(200)
    for (const [method, path] of SHUT) {
      const answer = await service.fetch(path, { method })
      expect([answer.status, answer.headers.get('retry-after')], `${method} ${path}`).toEqual([503, '10'])
    }
    expect((await service.fetch(await authorizeUrl())).status).toBe(503)
    expect((await userinfo(service, tokens.access_token)).status).toBe(503)
    expect(service.logs.join('\n')).toContain('state_secret.changed')
  })

  it('tells a person so on a page, without a word of the secret', async () => {
    const { service } = await otherSecret()
    const answer = await service.fetch('/account', { headers: { accept: 'text/html' } })
    expect(answer.headers.get('content-type')).toContain('text/html')
    expect(await answer.text()).not.toMatch(/state secret|fingerprint/i)
  })

  it('serves again once an operator has accepted it, and every session stands', async () => {
    const { service, store, tokens } = await otherSecret()
    expect((await userinfo(service, tokens.access_token)).status).toBe(503)
    expect(await ask(service, store, { command: 'state-secret.status' })).toMatchObject({ found: 'changed' })
    expect(await ask(service, store, { command: 'state-secret.accept' })).toMatchObject({ found: 'changed', accepted: true })
    store.clock.advance(10)
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect(await ask(service, store, { command: 'state-secret.accept' })).toMatchObject({ found: 'same', accepted: false })
  })
})

it('a state secret that can not be read is said to be so, and not accepted', async () => {
  const { service, store } = await otherSecret()
  await store.adapters().secrets.put(SECRET, utf8('short'))
  const said = { found: 'unreadable', reason: expect.stringContaining('is not 32 bytes') }
  expect(await ask(service, store, { command: 'state-secret.status' })).toEqual({ ok: true, ...said })
  expect(await ask(service, store, { command: 'state-secret.accept' })).toEqual({ ok: true, ...said, accepted: false })
})

describe('a change of the key that seals', () => {
  const [old = '', fresh = ''] = [7, 8].map((byte) => encodeBase64url(new Uint8Array(32).fill(byte)))
  const sealedBy = (sealKey: string, previous?: string) => (adapters: Adapters) => ({
    ...adapters,
    sealer: localSealer({ sealKey, previous, random }),
  })

  function ringsOf(...rings: SigningAlg[]): TestStore {
    return testStore('memory', {
      edit({ service }) {
        service.keyring.rings = rings
      },
    })
  }

  it('is warned of until it is done, done by one command with an audit event a key, and the old key can go', async () => {
    const store = ringsOf('ES256', 'EdDSA')
    const before = startService(store, sealedBy(old))
    await before.fetch('/keys')
    const tokens = await signedIn(before)

    const changing = startService(store, sealedBy(fresh, old))
    const ready = await (await changing.fetch('/readyz')).json<{ warnings?: string[] }>()
    expect(ready.warnings).toEqual(['seals: 2 signing keys and 0 secrets stand under an earlier SEAL_KEY: npm run reseal'])
    const done = await ask(changing, store, { command: 'keyring.reseal', all: false })
    expect(done).toEqual({ ok: true, keys: { resealed: 2, left: 0, untold: 0, unopenable: [] }, secrets: null })
    const events = changing.audit.events.filter(({ event }) => event === 'key.resealed')
    expect(events).toMatchObject([{ by: 'operator' }, { by: 'operator' }])
    expect(new Set(events.map(({ alg }) => alg))).toEqual(new Set(['ES256', 'EdDSA']))

    const after = startService(store, sealedBy(fresh))
    expect((await after.fetch('/readyz')).status).toBe(200)
    expect((await userinfo(after, tokens.access_token)).status).toBe(200)
    expect((await signedIn(after)).access_token).not.toBe('')
    expect((await (await after.fetch('/readyz')).json<{ warnings?: string[] }>()).warnings).toBeUndefined()
  })

  it('that loses the old key is mended by an operator who gives the lost key a successor, by name', async () => {
    const store = ringsOf('ES256')
    await signedIn(startService(store, sealedBy(old)))
    store.clock.advance(60)
    const service = startService(store, sealedBy(fresh))
    const ready = await (await service.fetch('/readyz')).json<{ checks: Record<string, string> }>()
    expect(ready.checks.signing_keys).toContain('npm run reseal -- --replace')
    const { keys } = await ask(service, store, { command: 'keyring.reseal', all: false })
    const { unopenable } = keys as { unopenable: string[] }
    const kid = String(unopenable[0]).replace('ES256:', '')
    await expect(ask(service, store, { command: 'keyring.replace', alg: 'ES256', kid: 'nobody' })).rejects.toMatchObject({ status: 400 })
    const made = await ask(service, store, { command: 'keyring.replace', alg: 'ES256', kid })
    expect((await signedIn(service)).access_token).not.toBe('')
    expect(service.audit.events.filter(({ event }) => event === 'key.made')).toMatchObject([{ kid: made.kid, by: 'operator' }])
  })
})
