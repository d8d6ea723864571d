import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { keys } from '../../src/ports/keys.ts'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import {
  asBackend,
  authorizeUrl,
  contents,
  exchange,
  redeployed,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  testStore,
  userinfo,
} from './harness.ts'
import { everything, none, type Outage, reads, records, secretStore, startOnShakyStores, writes } from './shaky-stores.ts'

const ADA = 'ada@acme.example'
const RECORDS_AWAY = 'unavailable: state is away'

/** 503 with the seconds to wait, and no verdict on what was presented. */
async function expectUnavailable(answer: Response): Promise<void> {
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
  expect(await errorOf(answer, 503)).toMatchObject({ error: 'temporarily_unavailable' })
}

describe('while the stores are away', () => {
  it('/healthz is well: a restart would bring no store back', async () => {
    const { service, outage } = startOnShakyStores()
    outage.fails = everything
    const answer = await service.fetch('/healthz')
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
  })

  it.each<[string, Outage['fails'], Record<string, string>]>([
    ['all of them', everything, { store: RECORDS_AWAY, signing_keys: RECORDS_AWAY, state_secret: 'unavailable: secrets is away' }],
    ['the records', records, { store: RECORDS_AWAY, signing_keys: RECORDS_AWAY, state_secret: RECORDS_AWAY }],
    ['the secrets', secretStore, { store: 'ok', signing_keys: 'ok', state_secret: 'unavailable: secrets is away' }],
  ])('/readyz is not ready and says which, and why: %s', async (_what, fails, checks) => {
    const { service, outage } = startOnShakyStores()
    outage.fails = fails
    const answer = await service.fetch('/readyz')
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'not ready', checks }])
    expect(service.logs.join('\n')).toContain('readiness.unavailable')
    outage.fails = none
    expect((await service.fetch('/readyz')).status).toBe(200)
  })

  it.each<[string, Outage['fails']]>([
    ['all of them', everything],
    ['writes', writes],
  ])('RFC 6749 4.1.2.1: /authorize sends temporarily_unavailable back to the client, in every mode: %s', async (_what, fails) => {
    const { service, outage } = startOnShakyStores()
    outage.fails = fails
    for (const response_mode of ['query', 'fragment', 'form_post']) {
      const answer = await service.fetch(await authorizeUrl({ response_mode }))
      expect(answer.headers.getSetCookie()).toEqual([])
      expect(await clientAnswer(answer)).toEqual({
        mode: response_mode,
        to: 'http://localhost:8787/demo',
        parameters: {
          error: 'temporarily_unavailable',
          error_description: expect.any(String),
          state: 'the state',
          iss: 'http://localhost:8787',
        },
      })
    }
  })

  it('/authorize still tells a person of an unknown client, and a client of a wrong request', async () => {
    const { service, outage } = startOnShakyStores()
    outage.fails = everything
    await errorOf(await service.fetch(await authorizeUrl({ client_id: 'nobody' })), 400)
    const { parameters } = await clientAnswer(await service.fetch(await authorizeUrl({ scope: 'x' })))
    expect(parameters.error).toBe('invalid_scope')
  })

  it('/authorize gives no verdict on an id_token_hint it has no keys for', async () => {
    const { service, store } = startOnShakyStores()
    const { id_token } = await signedIn(service)
    const cold = startOnShakyStores(store)
    cold.outage.fails = everything
    const { parameters } = await clientAnswer(await cold.service.fetch(await authorizeUrl({ id_token_hint: id_token })))
    expect(parameters.error).toBe('temporarily_unavailable')
  })

  it('/login and the picker answer a page to come back to, and the request waits on', async () => {
    const { service, outage, store } = startOnShakyStores()
    const browser = new TestBrowser(service)
    const login = (await browser.get(await authorizeUrl())).headers.get('location') ?? ''
    const auth = login.split('auth=')[1] ?? ''
    const before = await contents(store)
    outage.fails = everything
    for (const ask of [() => browser.get(login), () => browser.post('/login/picker', { auth, person: ADA })]) {
      const answer = await ask()
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
      expect(answer.headers.getSetCookie()).toEqual([])
      expect(await pageOf(answer, 503)).toContain('temporarily_unavailable')
    }
    outage.fails = writes
    expect((await browser.post('/login/picker', { auth, person: ADA })).status).toBe(503)
    expect(await contents(store)).toEqual(before)
    outage.fails = none
    expect((await browser.post('/login/picker', { auth, person: ADA })).status).toBe(303)
  })

  it.each<[string, Outage['fails']]>([
    ['all of them', everything],
    ['reads', reads],
    ['writes', writes],
    ['records', records],
  ])('/token is unavailable, never invalid_grant, and the code is good afterwards: %s', async (_what, fails) => {
    const { service, outage } = startOnShakyStores()
    await signedIn(service)
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    outage.fails = fails
    await expectUnavailable(await exchange(service, code))
    outage.fails = none
    expect((await exchange(service, code)).status).toBe(200)
  })

  it('/token of a cold isolate is unavailable, and the code is good afterwards', async () => {
    const { service, store } = startOnShakyStores()
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    const cold = startOnShakyStores(store)
    cold.outage.fails = everything
    await expectUnavailable(await exchange(cold.service, code))
    expect((await exchange(service, code)).status).toBe(200)
  })

  it('/token is unavailable, never invalid_client, to a client whose secret can not be read', async () => {
    const { service, outage, store } = startOnShakyStores()
    await store.adapters().secrets.put('internal/oidc/clients/backend', utf8('secret'))
    const code = (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? ''
    const as = { client_id: 'backend', client_secret: 'secret', redirect_uri: asBackend.redirect_uri }
    outage.fails = secretStore
    await expectUnavailable(await exchange(service, code, as))
    outage.fails = none
    expect((await exchange(service, code, as)).status).toBe(200)
  })

  it('/token takes a secret it has read within five minutes', async () => {
    const { service, outage, store } = startOnShakyStores()
    await store.adapters().secrets.put('internal/oidc/clients/backend', utf8('secret'))
    const as = { client_id: 'backend', client_secret: 'secret', redirect_uri: asBackend.redirect_uri }
    const redeem = async () => exchange(service, (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? '', as)
    expect((await redeem()).status).toBe(200)
    outage.fails = secretStore
    store.clock.advance(299)
    expect((await redeem()).status).toBe(200)
    store.clock.advance(10)
    await expectUnavailable(await redeem())
  })

  it('/userinfo is unavailable, never invalid_token, on a warm isolate and on a cold one', async () => {
    const { service, outage, store } = startOnShakyStores()
    const { access_token } = await signedIn(service)
    const cold = startOnShakyStores(store)
    outage.fails = everything
    cold.outage.fails = everything
    await expectUnavailable(await userinfo(service, access_token))
    await expectUnavailable(await userinfo(cold.service, access_token))
    outage.fails = none
    expect((await userinfo(service, access_token)).status).toBe(200)
  })

  it('/userinfo still refuses what is no token of anybody’s', async () => {
    const { service, outage } = startOnShakyStores()
    outage.fails = everything
    expect((await userinfo(service, 'garbage')).status).toBe(401)
    expect((await service.fetch('/userinfo')).status).toBe(401)
  })

  it('/keys and discovery go on, on an isolate that has the keys', async () => {
    const { service, outage, store } = startOnShakyStores()
    const before = await (await service.fetch('/keys')).text()
    outage.fails = everything
    store.clock.advance(3_600)
    expect(await (await service.fetch('/keys')).text()).toBe(before)
    expect((await service.fetch('/.well-known/openid-configuration')).status).toBe(200)
  })

  it('/keys of an isolate that has none is unavailable, and kept by nobody', async () => {
    const { service, outage } = startOnShakyStores()
    outage.fails = everything
    const answer = await service.fetch('/keys')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    await expectUnavailable(answer)
  })

  it('what an engine throws that is no PortError is a 500, and says nothing', async () => {
    const { service, outage } = startOnShakyStores()
    outage.fails = () => {
      throw new RangeError('ada@acme.example')
    }
    expect(await errorOf(await service.fetch(await authorizeUrl()), 500)).toMatchObject({ error: 'server_error' })
    expect(service.logs.join('\n')).not.toContain(ADA)
  })
})

describe('/readyz', () => {
  it('is ready on an empty store, and makes what a first start needs', async () => {
    const { service, store } = startOnShakyStores()
    const answer = await service.fetch('/readyz')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { status: 'ready', checks: { store: 'ok', signing_keys: 'ok', state_secret: 'same' } },
    ])
    expect(Object.keys(await contents(store)).map((key) => key.replace(/:[^:]*$/, ''))).toEqual([
      'issuer:kms',
      'keyring.ES256',
      'keyring.RS256',
    ])
  })

  it('is not ready once the state secret is another than the one this instance was started with', async () => {
    const { service, store } = startOnShakyStores()
    await service.fetch('/readyz')
    await store.adapters().secrets.put('internal/oidc/state-secret', utf8(btoa('x'.repeat(32))))
    store.clock.advance(60)
    const answer = await service.fetch('/readyz')
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { status: 'not ready', checks: { store: 'ok', signing_keys: 'ok', state_secret: 'changed' } },
    ])
  })

  it('says of a fingerprint of another implementation that it is foreign, and refuses nothing for it', async () => {
    const { service, store } = startOnShakyStores()
    await store.adapters().state.put(keys.stateSecretFingerprint, utf8('abc'), 600)
    const answer = await service.fetch('/readyz')
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'ready', checks: { state_secret: 'foreign' } }])
  })

  it('is not ready where no state secret was seeded and none may be made', async () => {
    const store = redeployed(testStore('memory'), ({ service }) => {
      service.preset = 'aws'
    })
    const answer = await startService(store).fetch('/readyz')
    expect([answer.status, await answer.json()]).toMatchObject([503, { checks: { state_secret: expect.stringContaining('npm run seed') } }])
  })
})
