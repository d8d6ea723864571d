import { describe, expect, it } from 'vitest'
import type { Adapters } from '../../src/compose.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { PortError } from '../../src/ports/error.ts'
import { createEnding, type Ending } from '../../src/records/ending.ts'
import { clientAnswer } from './answers.ts'
import { ADA, answerDevice, at, beginDevice, GRACE, HOUR, KATHERINE, poll, startClients, tokensIn } from './clients.ts'
import {
  authorizeUrl,
  claimsOf,
  contents,
  exchange,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'

/** unix seconds: later than anything these tests open */
const FOREVER = 4_000_000_000

const COOKIE = 'sluis_sso'

async function isAlive(service: TestService, tokens: Tokens): Promise<boolean> {
  return (await userinfo(service, tokens.access_token)).status === 200
}

/** Whether a browser that has only this cookie is signed in. */
async function proves(service: TestService, cookie: string | undefined): Promise<boolean> {
  const browser = new TestBrowser(service)
  browser.cookies.set(COOKIE, cookie ?? '')
  const { parameters } = await clientAnswer(await browser.get(await authorizeUrl({ prompt: 'none' })))
  return parameters.code !== undefined
}

async function keysUnder(store: TestStore, prefix: string): Promise<string[]> {
  return Object.keys(await contents(store)).filter((key) => key.startsWith(prefix))
}

/** Tokens of a device that a person allowed in this browser. */
async function device(service: TestService, browser: TestBrowser, person = ADA): Promise<Tokens> {
  const { device_code, user_code } = await beginDevice(service)
  await answerDevice(browser, user_code, 'allow', person)
  return tokensIn(await poll(service, device_code))
}

/** What a person has: two browsers, a device, and beside them somebody else. */
async function everything() {
  const { service, store } = await startClients('memory')
  const [here, there] = [new TestBrowser(service), new TestBrowser(service)]
  const opened = {
    demoHere: await at(service, 'demo', { browser: here }),
    nativeHere: await at(service, 'native', { browser: here }),
    demoThere: await at(service, 'demo', { browser: there }),
    graces: await at(service, 'demo', { person: GRACE }),
  }
  const itsDevice = await device(service, new TestBrowser(service))
  const { entries } = await store.adapters().state.list('ses.ada~40acme~2Eexample.')
  const sessions = entries.map(({ value }) => JSON.parse(new TextDecoder().decode(value)))
  const signInHere = sessions.find(({ id }) => id === claimsOf(opened.demoHere.id_token).sid)?.sso
  return {
    service,
    store,
    cookies: { here: here.cookies.get(COOKIE), there: there.cookies.get(COOKIE) },
    signInHere,
    opened: { ...opened, device: itsDevice },
  }
}

type Opened = Awaited<ReturnType<typeof everything>>['opened']

const left: [string, (signIn: string) => Ending['which'], (keyof Opened)[], boolean][] = [
  ['everything of a person', () => ({ of: 'everything' }), ['graces'], false],
  ['one sign-in', (id) => ({ of: 'sign_ins', ids: [id] }), ['demoThere', 'graces', 'device'], false],
  ['what one client holds', () => ({ of: 'client', client: 'demo' }), ['nativeHere', 'graces', 'device'], true],
]

describe.each(left)('an ending of %s that something cut short', (_what, which, survivors, stillSignedIn) => {
  async function cutShort() {
    const world = await everything()
    const { state } = world.store.adapters()
    const at = Math.floor(world.store.clock.now() / 1000)
    await createEnding(state, {
      id: 'AAAAAAAAAAAAAAAAAAAAAA',
      person: ADA,
      which: which(world.signInHere),
      cause: 'operator',
      by: GRACE,
      at,
    })
    return world
  }

  it('is taken up by the next tick, and done', async () => {
    const { service, store, cookies, opened } = await cutShort()
    await service.tick()
    for (const [name, tokens] of Object.entries(opened)) {
      expect([name, await isAlive(service, tokens)]).toEqual([name, survivors.some((survivor) => survivor === name)])
    }
    expect(await proves(service, cookies.here)).toBe(stillSignedIn)
    expect(await keysUnder(store, 'logout-due.')).toEqual([])
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'sessions.ended', subject: ADA, by: GRACE, reason: 'operator' })
  })

  it('is done once by two ticks at once, and a third finds nothing', async () => {
    const { service, store, opened } = await cutShort()
    await Promise.all([service.tick(), startService(store).tick()])
    const before = await contents(store)
    const audited = service.audit.events.length
    await service.tick()
    expect(await contents(store)).toEqual(before)
    expect(service.audit.events.slice(audited)).toEqual([])
    for (const name of survivors) expect(await isAlive(service, opened[name])).toBe(true)
  })

  it('can be done again: nobody who came after is touched twice', async () => {
    const { service, store } = await cutShort()
    const again = await store.adapters().state.get('logout-due.AAAAAAAAAAAAAAAAAAAAAA')
    await service.tick()
    await store.adapters().state.put('logout-due.AAAAAAAAAAAAAAAAAAAAAA', again?.value ?? new Uint8Array(), HOUR)
    const before = await contents(store)
    await service.tick()
    const { 'logout-due.AAAAAAAAAAAAAAAAAAAAAA': _, ...rest } = before
    expect(await contents(store)).toEqual(rest)
  })
})

it('an ending of what a client holds, taken up late, leaves what a standing sign-in let the client in to since', async () => {
  const { service, store } = await startClients('memory')
  const browser = new TestBrowser(service)
  const before = await at(service, 'demo', { browser })
  const asked = Math.floor(store.clock.now() / 1000)
  const which = { of: 'client', client: 'demo' } as const
  await createEnding(store.adapters().state, { id: 'A', person: ADA, which, cause: 'operator', by: GRACE, at: asked })
  store.clock.advance(10)
  const { parameters } = await clientAnswer(await browser.get(await authorizeUrl({ prompt: 'none' })))
  const since = await tokensIn(await exchange(service, parameters.code ?? ''))
  await service.tick()
  expect([await isAlive(service, before), await isAlive(service, since)]).toEqual([false, true])
})

it('an ending that can not be read is passed over, and the others are done', async () => {
  const { service, store, opened } = await everything()
  const { state } = store.adapters()
  await state.put('logout-due.0', utf8('{'), HOUR)
  await createEnding(state, { id: 'B', person: ADA, which: { of: 'everything' }, cause: 'sign_out', by: ADA, at: FOREVER })
  await service.tick()
  expect(await isAlive(service, opened.demoHere)).toBe(false)
  expect(service.logs.join('\n')).toContain('record.unreadable')
})

it('an ending of everybody’s at one client is taken up too, with one audit event for each of them', async () => {
  const { service, store, opened } = await everything()
  const { state } = store.adapters()
  await createEnding(state, { id: 'A', which: { of: 'client', client: 'demo' }, cause: 'operator', by: ADA, at: FOREVER })
  await service.tick()
  const alive = await Promise.all(Object.entries(opened).map(async ([name, tokens]) => [name, await isAlive(service, tokens)]))
  expect(Object.fromEntries(alive)).toEqual({ demoHere: false, nativeHere: true, demoThere: false, graces: false, device: true })
  expect(
    service.audit.events.filter(({ event }) => event === 'sessions.ended').map(({ subject, by, count }) => [subject, by, count]),
  ).toEqual([
    [ADA, ADA, 2],
    [GRACE, ADA, 1],
  ])
})

it('an ending that fails again keeps none of the others, and is done by the tick after', async () => {
  const { service, store, opened } = await everything()
  const { state } = store.adapters()
  for (const [id, person] of [['A', ADA] as const, ['B', GRACE] as const]) {
    await createEnding(state, { id, person, which: { of: 'everything' }, cause: 'operator', by: KATHERINE, at: FOREVER })
  }
  const away = (adapters: Adapters): Adapters => ({
    ...adapters,
    state: {
      ...adapters.state,
      list: (prefix, options) =>
        prefix.includes('ada') ? Promise.reject(new PortError('Unavailable', 'away')) : adapters.state.list(prefix, options),
    },
  })
  const unlucky = startService(store, away)
  await unlucky.tick()
  expect([await isAlive(service, opened.nativeHere), await isAlive(service, opened.graces)]).toEqual([true, false])
  expect(unlucky.logs.join('\n')).toContain('ending.unfinished')
  expect(unlucky.logs.join('\n')).not.toMatch(/ada@|grace@/)
  expect(await keysUnder(store, 'logout-due.')).toEqual(['logout-due.A'])
  await service.tick()
  expect(await isAlive(service, opened.nativeHere)).toBe(false)
  expect(await keysUnder(store, 'logout-due.')).toEqual([])
})

it('endings that are many are all done by one tick, or by several where there are few calls', async () => {
  for (const [plan, ticks] of [
    ['paid', 1],
    ['free', 30],
  ] as const) {
    const { service, store } = await startClients('memory', (documents) => {
      documents.service.plan = plan
    })
    for (let n = 0; n < 25; n++) {
      const who = { person: `p${n}@acme.example`, which: { of: 'everything' as const }, cause: 'operator' as const, by: ADA, at: FOREVER }
      await createEnding(store.adapters().state, { id: `e${n}`, ...who })
    }
    const outcomes: string[] = []
    for (let tick = 0; tick < ticks; tick++) outcomes.push(await service.tick())
    expect(await keysUnder(store, 'logout-due.')).toEqual([])
    expect([outcomes[0], outcomes.at(-1)]).toEqual([plan === 'paid' ? 'done' : 'more', 'done'])
  }
})
