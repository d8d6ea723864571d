import { describe, expect, it } from 'vitest'
import { PortError } from '../../src/ports/error.ts'
import { personId } from '../../src/ports/keys.ts'
import { createSession, createSessionPointer, type Session } from '../../src/records/session.ts'
import { errorOf } from './answers.ts'
import { ADA, API, answerDevice, at, beginDevice, GRACE, HOUR, KATHERINE, poll, refresh, startClients, tokensIn } from './clients.ts'
import {
  claimsOf,
  contents,
  type Engine,
  engines,
  redeployed,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'

interface Listing {
  sessions: Record<string, unknown>[]
  next?: string
}

async function isAlive(service: TestService, tokens: Tokens): Promise<boolean> {
  return (await userinfo(service, tokens.access_token)).status === 200
}

function sidOf(tokens: Tokens): string {
  return String(claimsOf(tokens.id_token).sid)
}

async function listed(browser: TestBrowser, query = ''): Promise<Listing> {
  const answer = await browser.ask('GET', `/api/sessions${query}`)
  const text = await answer.text()
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')], text).toEqual([
    200,
    'application/json',
    'no-store',
  ])
  return JSON.parse(text)
}

async function ended(browser: TestBrowser, path: string): Promise<number> {
  const answer = await browser.ask('DELETE', `/api/sessions${path}`)
  const body = await answer.json<{ ended: number }>()
  expect([answer.status, Object.keys(body)]).toEqual([200, ['ended']])
  return body.ended
}

/** Refused as a program is told, with nothing ended. */
async function expectRefused(store: TestStore, ask: () => Promise<Response>, status: number, error: string): Promise<void> {
  const before = await contents(store)
  expect(await errorOf(await ask(), status)).toMatchObject({ error })
  expect(await contents(store)).toEqual(before)
}

/** Grace and Katherine at two clients each, and Ada, who holds a group of console.operators, in a browser of her own. */
async function people(engine: Engine = 'memory') {
  const { service, store } = await startClients(engine)
  const [ada, grace, katherine] = [new TestBrowser(service), new TestBrowser(service), new TestBrowser(service)]
  return {
    ...{ service, store, ada, grace, katherine },
    adaDemo: await at(service, 'demo', { browser: ada }),
    graceDemo: await at(service, 'demo', { browser: grace, person: GRACE }),
    graceNative: await at(service, 'native', { browser: grace, person: GRACE, resource: API }),
    katherineDemo: await at(service, 'demo', { browser: katherine, person: KATHERINE }),
    katherineNative: await at(service, 'native', { browser: katherine, person: KATHERINE }),
  }
}

describe.each(engines)('/api/sessions on %s', (engine) => {
  it('lists one’s own, and says what each is', async () => {
    const { service, store, grace, graceDemo, graceNative } = await people(engine)
    const { sessions, next } = await listed(grace)
    expect(next).toBeUndefined()
    const now = store.clock.now() / 1000
    const both = { person: GRACE, how: 'code', method: 'picker', auth_time: now, issued_at: now, expires_at: now + 24 * HOUR }
    const scopes = ['openid', 'profile', 'email', 'offline_access']
    const sign_in = service.audit.events.find(({ subject }) => subject === GRACE)?.sign_in
    expect(sessions.toSorted((a, b) => String(a.client_id).localeCompare(String(b.client_id)))).toEqual([
      { ...both, sid: sidOf(graceDemo), client_id: 'demo', client_name: 'The demo', scopes, sign_in },
      { ...both, sid: sidOf(graceNative), client_id: 'native', client_name: 'A program on this computer', scopes, resource: API, sign_in },
    ])
  })

  it('ends one, and no other', async () => {
    const { service, grace, graceDemo, graceNative } = await people(engine)
    expect(await ended(grace, `/${sidOf(graceDemo)}`)).toBe(1)
    expect([await isAlive(service, graceDemo), await isAlive(service, graceNative)]).toEqual([false, true])
    expect((await refresh(service, graceDemo.refresh_token)).status).toBe(400)
    expect((await listed(grace)).sessions).toMatchObject([{ client_id: 'native' }])
  })

  it('gives an operator everybody’s, a page at a time, each once', async () => {
    const { store, ada } = await people(engine)
    const { state } = store.adapters()
    const now = store.clock.now() / 1000
    const made = Array.from({ length: 220 }, (_, n): Session => {
      const times = { auth_time: now, issued_at: now, expires_at: now + HOUR }
      return { id: `s${n}`, identity: n % 2 === 0 ? `p${n}@acme.example` : GRACE, client_id: 'native', how: 'code', scopes: [], ...times }
    })
    await Promise.all(made.flatMap((session) => [createSession(state, session, HOUR), createSessionPointer(state, session, HOUR)]))
    const pages: Listing[] = []
    for (let page: string | undefined, first = true; first || page !== undefined; first = false) {
      pages.push(await listed(ada, page === undefined ? '' : `?page=${encodeURIComponent(page)}`))
      page = pages.at(-1)?.next
    }
    const sids = pages.flatMap(({ sessions }) => sessions.map(({ sid }) => sid))
    expect([pages.length > 2, sids.length, new Set(sids).size]).toEqual([true, 225, 225])

    const graces = await listed(ada, `?person=${GRACE}`)
    const rest = await listed(ada, `?person=${GRACE}&page=${encodeURIComponent(graces.next ?? '')}`)
    expect([...graces.sessions, ...rest.sessions]).toHaveLength(112)
    expect(rest.next).toBeUndefined()

    expect(await ended(ada, '?client=native')).toBe(222)
    const { sessions } = await listed(ada)
    expect(sessions.map(({ client_id }) => client_id)).toEqual(['demo', 'demo', 'demo'])
  })

  it('lets an operator end all of a person: sessions, devices and sign-ins', async () => {
    const { service, ada, adaDemo, grace, graceDemo, graceNative, katherineDemo } = await people(engine)
    const { device_code, user_code } = await beginDevice(service)
    await answerDevice(grace, user_code, 'allow', GRACE)
    const device = await tokensIn(await poll(service, device_code))
    expect(await ended(ada, `?person=${GRACE}`)).toBe(3)
    for (const tokens of [graceDemo, graceNative, device]) expect(await isAlive(service, tokens)).toBe(false)
    for (const tokens of [adaDemo, katherineDemo]) expect(await isAlive(service, tokens)).toBe(true)
    expect((await grace.ask('GET', '/api/sessions')).status).toBe(401)
  })
})

describe('an operator', () => {
  it('sees those of a person, of a client, and of both', async () => {
    const { ada } = await people()
    const seen = async (query: string) =>
      (await listed(ada, query)).sessions.map(({ person, client_id }) => `${person} ${client_id}`).sort()
    expect(await seen('')).toHaveLength(5)
    expect(await seen(`?person=${GRACE}`)).toEqual([`${GRACE} demo`, `${GRACE} native`])
    expect(await seen('?person=%20Grace@ACME.example')).toEqual([`${GRACE} demo`, `${GRACE} native`])
    expect(await seen('?client=native')).toEqual([`${GRACE} native`, `${KATHERINE} native`])
    expect(await seen(`?person=${KATHERINE}&client=demo`)).toEqual([`${KATHERINE} demo`])
    expect(await seen('?person=nobody@acme.example')).toEqual([])
    expect(await seen('?client=nobody')).toEqual([])
  })

  it('ends one of another person', async () => {
    const { service, ada, graceDemo, graceNative } = await people()
    const before = service.audit.events.length
    expect(await ended(ada, `/${sidOf(graceDemo)}`)).toBe(1)
    expect([await isAlive(service, graceDemo), await isAlive(service, graceNative)]).toEqual([false, true])
    expect(service.audit.events.slice(before)).toMatchObject([
      { event: 'sessions.asked', subject: ADA, reason: `ended a session of ${GRACE}` },
      { event: 'session.ended', subject: GRACE, session: sidOf(graceDemo), reason: 'operator', by: ADA },
    ])
  })

  it('ends all of a client, everybody’s, and leaves their sign-ins', async () => {
    const { service, ada, grace, graceNative, katherineNative, graceDemo, adaDemo } = await people()
    expect(await ended(ada, '?client=native')).toBe(2)
    for (const tokens of [graceNative, katherineNative]) expect(await isAlive(service, tokens)).toBe(false)
    for (const tokens of [graceDemo, adaDemo]) expect(await isAlive(service, tokens)).toBe(true)
    expect((await listed(grace)).sessions).toHaveLength(1)
  })

  it('ends those of one person at one client', async () => {
    const { service, ada, graceNative, katherineNative, graceDemo } = await people()
    expect(await ended(ada, `?person=${GRACE}&client=native`)).toBe(1)
    expect(await isAlive(service, graceNative)).toBe(false)
    for (const tokens of [katherineNative, graceDemo]) expect(await isAlive(service, tokens)).toBe(true)
  })

  it('is audited for what concerns others, by whom and about whom, and not for their own', async () => {
    const { service, ada } = await people()
    const before = service.audit.events.length
    await listed(ada, `?person=${ADA}`)
    expect(service.audit.events.slice(before)).toEqual([])
    await listed(ada)
    await listed(ada, `?person=${GRACE}`)
    await ended(ada, `?person=${GRACE}`)
    await ended(ada, '?client=native')
    expect(
      service.audit.events.slice(before).map(({ event, subject, by, reason, count }) => ({ event, subject, by, reason, count })),
    ).toEqual([
      { event: 'sessions.asked', subject: ADA, by: undefined, reason: 'listed everybody', count: undefined },
      { event: 'sessions.asked', subject: ADA, by: undefined, reason: `listed ${GRACE}`, count: undefined },
      { event: 'sessions.asked', subject: ADA, by: undefined, reason: `ended sessions of ${GRACE} at every client`, count: undefined },
      { event: 'sessions.ended', subject: GRACE, by: ADA, reason: 'operator', count: 2 },
      { event: 'sessions.asked', subject: ADA, by: undefined, reason: 'ended sessions of everybody at native', count: undefined },
      { event: 'sessions.ended', subject: KATHERINE, by: ADA, reason: 'operator', count: 1 },
    ])
  })

  it.each<[string, (documents: TestStore['documents']) => void]>([
    ['the policy names no operators', ({ policy }) => void delete policy.console],
    ['it names none of their groups', ({ policy }) => Object.assign(policy, { console: { operators: ['app:none'] } })],
    ['it names nobody', ({ policy }) => Object.assign(policy, { console: { operators: [] } })],
    [
      'they left the group since',
      ({ service }) => {
        for (const person of service.directory.people) person.groups = ['engineering@acme.example']
      },
    ],
    [
      'the directory has suspended them',
      ({ service }) => {
        for (const person of service.directory.people) person.suspended = person.email === ADA
      },
    ],
  ])('is none where %s', async (_what, edit) => {
    const { store, ada } = await people()
    const tab = new TestBrowser(startService(redeployed(store, edit)))
    for (const [name, value] of ada.cookies) tab.cookies.set(name, value)
    await expectRefused(store, () => tab.ask('GET', `/api/sessions?person=${GRACE}`), 403, 'forbidden')
    await expectRefused(store, () => tab.ask('DELETE', '/api/sessions?client=demo'), 403, 'forbidden')
    expect((await listed(tab)).sessions).toMatchObject([{ person: ADA }])
  })

  it('can not be told while the directory is away: 503, and nothing ends', async () => {
    const { service, store, ada } = await people()
    service.services.issuer.directory = { resolve: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expectRefused(store, () => ada.ask('DELETE', `/api/sessions?person=${GRACE}`), 503, 'temporarily_unavailable')
  })
})

describe('anybody else', () => {
  it('sees their own whatever they ask for, and nobody else’s', async () => {
    const { grace, store, service } = await people()
    expect((await listed(grace, `?person=${GRACE}`)).sessions).toHaveLength(2)
    expect((await listed(grace, '?client=demo')).sessions).toMatchObject([{ client_id: 'demo', person: GRACE }])
    await expectRefused(store, () => grace.ask('GET', `/api/sessions?person=${ADA}`), 403, 'forbidden')
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'sessions.refused', subject: GRACE, reason: `listed ${ADA}` })
  })

  it.each([`?person=${ADA}`, '?client=demo', `?person=${ADA}&client=demo`])('ends none of others’: %s', async (query) => {
    const { grace, store, service } = await people()
    await expectRefused(store, () => grace.ask('DELETE', `/api/sessions${query}`), 403, 'forbidden')
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'sessions.refused', subject: GRACE })
  })

  it('is told of another’s session what they are told of none', async () => {
    const { grace, service, store, adaDemo } = await people()
    const before = service.audit.events.length
    for (const sid of [sidOf(adaDemo), 'AAAAAAAAAAAAAAAAAAAAAA']) {
      await expectRefused(store, () => grace.ask('DELETE', `/api/sessions/${sid}`), 404, 'not_found')
    }
    expect(service.audit.events.slice(before)).toMatchObject([
      { event: 'sessions.refused', subject: GRACE, reason: `ended a session of ${ADA}` },
    ])
  })

  it('ends all of their own, or those of one client', async () => {
    const { service, grace, graceDemo, graceNative, katherineDemo } = await people()
    expect(await ended(grace, `?person=${GRACE}&client=demo`)).toBe(1)
    expect([await isAlive(service, graceDemo), await isAlive(service, graceNative)]).toEqual([false, true])
    expect(await ended(grace, `?person=${GRACE}`)).toBe(1)
    expect([await isAlive(service, graceNative), await isAlive(service, katherineDemo)]).toEqual([false, true])
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'sessions.ended', subject: GRACE, reason: 'sign_out', by: GRACE })
    expect((await grace.ask('GET', '/api/sessions')).status).toBe(401)
  })

  it('ends a session once', async () => {
    const { grace, graceDemo, store } = await people()
    await ended(grace, `/${sidOf(graceDemo)}`)
    await expectRefused(store, () => grace.ask('DELETE', `/api/sessions/${sidOf(graceDemo)}`), 404, 'not_found')
  })
})

describe('who asks', () => {
  it('is nobody without a sign-in: 401, also with an access token', async () => {
    const { service, store, adaDemo } = await people()
    const browsers = [new TestBrowser(service), new TestBrowser(service)]
    browsers[1]?.cookies.set('sluis_sso', 'A'.repeat(43))
    for (const browser of browsers) {
      for (const headers of [
        {},
        { authorization: `Bearer ${adaDemo.access_token}` },
        { authorization: `Bearer ${adaDemo.refresh_token}` },
      ]) {
        for (const [method, path] of [
          ['GET', ''],
          ['DELETE', `?person=${GRACE}`],
          ['DELETE', `/${sidOf(adaDemo)}`],
        ] as const) {
          const ask = () => browser.ask(method, `/api/sessions${path}`, { 'sec-fetch-site': 'same-origin', ...headers })
          await expectRefused(store, ask, 401, 'unauthenticated')
        }
      }
    }
  })

  it('is nobody once their sign-in completes nothing any more', async () => {
    const { ada, store } = await people()
    store.clock.advance(12 * HOUR)
    await expectRefused(store, () => ada.ask('GET', '/api/sessions'), 401, 'unauthenticated')
  })

  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of this site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['nowhere', {}],
    ['another origin, in an old browser', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
  ])('must be a page of ours: from %s it is 403', async (_where, headers) => {
    const { ada, store, graceDemo } = await people()
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', `?person=${ADA}`],
      ['DELETE', `/${sidOf(graceDemo)}`],
    ] as const) {
      await expectRefused(store, () => ada.ask(method, `/api/sessions${path}`, headers), 403, 'cross_origin_request')
    }
  })

  it('may be a page of ours in an old browser', async () => {
    const { ada } = await people()
    expect((await ada.ask('GET', '/api/sessions', { origin: 'http://localhost:8787' })).status).toBe(200)
  })
})

describe('an answer of /api/sessions', () => {
  it('holds nothing that could be used: no token, cookie or hash', async () => {
    const { ada, grace, adaDemo, graceDemo } = await people()
    const text = JSON.stringify([await listed(ada), await listed(grace)])
    for (const secret of [adaDemo, graceDemo].flatMap(({ access_token, refresh_token, id_token }) => [
      access_token,
      refresh_token,
      id_token,
    ])) {
      expect(text).not.toContain(secret)
    }
    for (const cookie of [...ada.cookies.values(), ...grace.cookies.values()]) expect(text).not.toContain(cookie)
    expect(text).not.toMatch(/slr_|slc_|sld_|hash|[0-9a-f]{64}/)
  })

  it('is JSON also where text/html is asked for, and read by no page of another origin', async () => {
    const { ada } = await people()
    for (const [method, path, status] of [
      ['GET', '', 200],
      ['DELETE', '', 400],
      ['DELETE', '/nothing', 404],
      ['GET', '/nothing', 405],
    ] as const) {
      const answer = await ada.ask(method, `/api/sessions${path}`, { accept: 'text/html', 'sec-fetch-site': 'same-origin' })
      expect([method, path, answer.status, answer.headers.get('content-type')]).toEqual([method, path, status, 'application/json'])
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })

  it.each(['', '?', '?person=', '?client=', '?page=x'])('refuses to end what nobody named: DELETE %s', async (query) => {
    const { ada, store } = await people()
    await expectRefused(store, () => ada.ask('DELETE', `/api/sessions${query}`), 400, 'invalid_request')
  })

  it('refuses a page that it did not give, and one of another listing', async () => {
    const { ada, store } = await people()
    const { state } = store.adapters()
    const made = Array.from({ length: 101 }, (_, n): Session => {
      return { id: `s${n}`, identity: GRACE, client_id: 'demo', how: 'code', scopes: [], auth_time: 1, issued_at: 1, expires_at: 2 }
    })
    for (const session of made) await createSession(state, session, HOUR)
    const { next } = await listed(ada, `?person=${GRACE}`)
    for (const page of ['x', '%21', 'a'.repeat(8_000), encodeURIComponent(next ?? '')]) {
      await expectRefused(store, () => ada.ask('GET', `/api/sessions?page=${page}`), 400, 'invalid_request')
    }
    await expectRefused(store, () => ada.ask('GET', '/api/sessions?page=a&page=b'), 400, 'invalid_request')
    await expectRefused(store, () => ada.ask('GET', '/api/sessions?person=%ff'), 400, 'invalid_request')
  })

  it.each(['%', '%ff', '%00', '%2e%2e%2f', 'a.b', '%C3%A9', '%F0%9F%92%A5', 'constructor', 'a'.repeat(4_000)])(
    'knows no session %s',
    async (sid) => {
      const { ada, store } = await people()
      await expectRefused(store, () => ada.ask('DELETE', `/api/sessions/${sid}`), 404, 'not_found')
    },
  )

  it('lists no session that has ended', async () => {
    const { store, grace, graceDemo } = await people()
    const key = `ses.${personId(GRACE).replace('@', '~40').replace('.', '~2E')}.${sidOf(graceDemo)}`
    await store.adapters().state.put(key, new TextEncoder().encode('{"ended":1}') as Uint8Array<ArrayBuffer>, HOUR)
    expect((await listed(grace)).sessions).toMatchObject([{ client_id: 'native' }])
    await expectRefused(store, () => grace.ask('DELETE', `/api/sessions/${sidOf(graceDemo)}`), 404, 'not_found')
  })
})

it('a person who signs in again elsewhere sees all they have', async () => {
  const { service } = await people()
  const another = new TestBrowser(service)
  await signIn(another, {}, GRACE)
  expect((await listed(another)).sessions).toHaveLength(2)
})
