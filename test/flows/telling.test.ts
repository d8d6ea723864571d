import { describe, expect, it } from 'vitest'
import { ADA, at, clientStore, GRACE, HOUR, refresh, revoke, signInAt } from './clients.ts'
import { goRecords } from './go-records.ts'
import {
  authorizeUrl,
  claimsOf,
  contents,
  type Engine,
  engines,
  exchange,
  redeployed,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'
import { type Applications, applications, tellable } from './told-clients.ts'

interface World {
  store: TestStore
  service: TestService
  apps: Applications
  /** Another isolate over the same store, as after a restart. */
  restarted(): TestService
}

async function world(engine: Engine = 'memory', edit: (documents: TestStore['documents']) => void = () => {}): Promise<World> {
  const store = await clientStore(engine, (documents) => {
    tellable(['demo', 'backend'])(documents)
    edit(documents)
  })
  let service: TestService
  const apps = applications(() => service)
  const restarted = () => {
    service = startService(store, undefined, apps.outside)
    return service
  }
  return { store, service: restarted(), apps, restarted }
}

async function leftOf(store: TestStore): Promise<string[]> {
  return Object.keys(await contents(store)).filter((key) => /^logout(?:-due)?\./.test(key))
}

function sidOf({ id_token }: Tokens): string {
  return String(claimsOf(id_token).sid)
}

/** A browser at a client that is told, and at one that is not. */
async function signedIn({ service }: World, person = ADA) {
  const browser = new TestBrowser(service)
  const demo = await at(service, 'demo', { browser, person })
  const native = await at(service, 'native', { browser, person })
  return { browser, demo, native }
}

describe.each(engines)('the client of a session is told once on %s', (engine) => {
  it.each<[string, (world: World, browser: TestBrowser, tokens: Tokens) => Promise<unknown>]>([
    ['a sign-out', (_, browser) => browser.post('/logout', {})],
    ['one session ended on /account', (_, browser, tokens) => browser.post('/account', { session: sidOf(tokens) })],
    ['everything ended on /account', (_, browser) => browser.post('/account', { everything: 'yes' })],
    ['another person in the same browser', ({ service: _ }, browser) => signInAs(browser, GRACE)],
    ['an operator who ends one', (_, browser, tokens) => browser.ask('DELETE', `/api/sessions/${sidOf(tokens)}`)],
    ['an operator who ends all of a person', (_, browser) => browser.ask('DELETE', `/api/sessions?person=${ADA}`)],
    ['an operator who ends all of a client', (_, browser) => browser.ask('DELETE', '/api/sessions?client=demo')],
    [
      'a refresh token that comes again after its grace',
      async ({ service, store }, _, { refresh_token }) => {
        await refresh(service, refresh_token)
        store.clock.advance(60)
        await refresh(service, refresh_token)
      },
    ],
  ])('on %s', async (_what, end) => {
    const all = await world(engine)
    const { browser, demo } = await signedIn(all)
    await end(all, browser, demo)
    await all.service.afterwards()
    expect(all.apps.told).toEqual([{ client: 'demo', sub: ADA, sid: sidOf(demo), jti: expect.any(String), alg: 'ES256' }])
    expect((await userinfo(all.service, demo.access_token)).status).toBe(401)
    expect(await leftOf(all.store)).toEqual([])
    await all.service.tick()
    expect(all.apps.asked).toHaveLength(1)
  })

  it('on a code that is presented twice', async () => {
    const { service, apps, store } = await world(engine)
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    const tokens = await (await exchange(service, code)).json<Tokens>()
    expect((await exchange(service, code)).status).toBe(400)
    await service.afterwards()
    expect(apps.told).toMatchObject([{ client: 'demo', sid: sidOf(tokens) }])
    expect(await leftOf(store)).toEqual([])
  })

  it('on a person whom the directory no longer has', async () => {
    const { service, apps, store } = await world(engine)
    const tokens = await at(service, 'demo')
    const later = startService(
      redeployed(store, ({ service: { directory } }) => {
        directory.people = directory.people.filter(({ email }) => email !== ADA)
      }),
      undefined,
      apps.outside,
    )
    expect((await refresh(later, tokens.refresh_token)).status).toBe(400)
    await later.afterwards()
    expect(apps.told).toMatchObject([{ client: 'demo', sid: sidOf(tokens) }])
  })
})

async function signInAs(browser: TestBrowser, person: string): Promise<void> {
  await signInAt(browser, await authorizeUrl({ prompt: 'login' }), person)
}

describe('nobody is told', () => {
  it('of a session that its client revoked itself', async () => {
    const all = await world()
    const { demo } = await signedIn(all)
    await revoke(all.service, demo.refresh_token)
    await all.service.afterwards()
    expect((await userinfo(all.service, demo.access_token)).status).toBe(401)
    await all.service.tick()
    expect(all.apps.asked).toEqual([])
  })

  it('of a session that goes on in another browser', async () => {
    const all = await world()
    const [here, there] = [await signedIn(all), await signedIn(all)]
    await here.browser.post('/logout', {})
    await all.service.afterwards()
    expect(all.apps.told).toMatchObject([{ sid: sidOf(here.demo) }])
    expect((await userinfo(all.service, there.demo.access_token)).status).toBe(200)
  })

  it('at a client that the policy no longer has', async () => {
    const all = await world()
    const { browser } = await signedIn(all)
    all.apps.answers(() => 500)
    await browser.post('/logout', {})
    await all.service.afterwards()
    const without = redeployed(all.store, ({ policy }) => {
      delete policy.clients.demo
    })
    all.store.clock.advance(2 * HOUR)
    await startService(without, undefined, all.apps.outside).tick()
    expect(all.apps.asked).toHaveLength(1)
    expect(await leftOf(all.store)).toEqual([])
  })
})

it('of a session of the Go service, once a refresh has brought it into our form', async () => {
  const all = await world()
  const { instance } = all.store.documents.service
  const go = await goRecords(all.store.adapters(), { now: all.store.clock.now(), issuer: all.service.url, instance })
  expect((await refresh(all.service, go.sessions.demo.live)).status).toBe(200)
  const browser = new TestBrowser(all.service)
  browser.cookies.set('__Host-access_issuer_sso', go.cookies.ada)
  await browser.post('/account', { everything: 'yes' })
  await all.service.afterwards()
  expect(all.apps.told).toMatchObject([{ client: 'demo', sub: ADA, sid: go.sessions.demo.sid }])
  expect(await leftOf(all.store)).toEqual([])
})

it('with the algorithm of its ID tokens', async () => {
  const all = await world('memory', ({ service, policy }) => {
    service.keyring.rings = ['ES256', 'ES384']
    Object.assign(policy.clients.demo ?? {}, { signing_alg: 'ES384' })
  })
  const { browser } = await signedIn(all)
  await browser.post('/logout', {})
  await all.service.afterwards()
  expect(all.apps.told).toMatchObject([{ client: 'demo', alg: 'ES384' }])
})

describe.each(engines)('a client that fails on %s', (engine) => {
  it('three times with 500, and then hangs, is told exactly when it answers, by a new token each time, across a restart', async () => {
    const all = await world(engine)
    const { browser } = await signedIn(all)
    // Five real seconds of silence: on one engine.
    const answers: (number | 'silence')[] = [500, 500, 500, engine === 'memory' ? 'silence' : 302, 200]
    all.apps.answers(() => answers.shift() ?? 200)
    await browser.post('/logout', {})
    await all.service.afterwards()
    expect(all.apps.asked).toHaveLength(1)

    await all.service.tick() // it waits: half a minute at least
    expect(all.apps.asked).toHaveLength(1)
    for (let attempt = 2; attempt <= 5; attempt++) {
      expect(all.apps.told).toEqual([])
      all.store.clock.advance(HOUR)
      await all.restarted().tick()
      expect(all.apps.asked).toHaveLength(attempt)
    }
    expect(all.apps.told).toHaveLength(1)
    expect(new Set(all.apps.asked.map(({ jti }) => jti)).size).toBe(5)
    await all.restarted().tick()
    expect(all.apps.asked).toHaveLength(5)
    expect(await leftOf(all.store)).toEqual([])
  })

  it('for a day is told no more, and nothing of it is left', async () => {
    const all = await world(engine)
    const { browser } = await signedIn(all)
    all.apps.answers(() => 500)
    await browser.post('/logout', {})
    await all.service.afterwards()
    const { sid } = all.apps.asked[0] ?? {}
    expect(await untold(all)).toMatchObject([{ client_id: 'demo', sid, attempts: 1, ended_at: all.store.clock.now() / 1000 }])
    for (let hour = 0; hour < 25; hour++) {
      all.store.clock.advance(HOUR)
      await all.service.tick()
    }
    expect(await untold(all)).toBeUndefined()
    const asked = all.apps.asked.length
    expect(asked).toBeGreaterThan(20)
    expect(await leftOf(all.store)).toEqual([])
    expect(all.service.logs.join('\n')).toContain('logout.failed')
    expect(all.service.logs.join('\n')).not.toMatch(/localhost:3999|ada@/)
    all.store.clock.advance(HOUR)
    await all.service.tick()
    expect(all.apps.asked).toHaveLength(asked)
  })

  it('keeps no other from being told, and ends nothing that was begun since', async () => {
    const all = await world(engine)
    const { browser } = await signedIn(all)
    const backend = await at(all.service, 'backend', { browser })
    all.apps.answers((client) => (client === 'demo' ? 500 : 200))
    expect(await (await browser.ask('DELETE', `/api/sessions?person=${ADA}&client=demo`)).json()).toEqual({ ended: 1 })
    await all.service.afterwards()

    all.store.clock.advance(5)
    // Silently: its sign-in is older than the ending.
    const code = new URL((await browser.get(await authorizeUrl({ prompt: 'none' }))).headers.get('location') ?? '').searchParams.get('code')
    const again = await (await exchange(all.service, code ?? '')).json<Tokens>()
    expect(await (await browser.ask('DELETE', `/api/sessions/${sidOf(backend)}`)).json()).toEqual({ ended: 1 })
    await all.service.afterwards()
    expect(all.apps.told).toMatchObject([{ client: 'backend', sid: sidOf(backend) }])

    all.store.clock.advance(HOUR / 2)
    await all.service.tick()
    expect((await userinfo(all.service, again.access_token)).status).toBe(200)
  })
})

/** What an operator's listing says of clients that were not told. */
async function untold({ service }: World): Promise<unknown> {
  const browser = new TestBrowser(service)
  await signInAs(browser, ADA)
  return (await (await browser.ask('GET', `/api/sessions?person=${ADA}`)).json<{ untold?: unknown }>()).untold
}

it('two ticks and the request itself tell a client once', async () => {
  const all = await world()
  const { browser } = await signedIn(all)
  await browser.post('/logout', {})
  const others = [startService(all.store, undefined, all.apps.outside), startService(all.store, undefined, all.apps.outside)]
  await Promise.all([all.service.afterwards(), ...others.map((other) => other.tick())])
  expect(all.apps.told).toHaveLength(1)
  expect(await leftOf(all.store)).toEqual([])
})
