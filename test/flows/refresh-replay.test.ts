import { describe, expect, it } from 'vitest'
import { fromUtf8, utf8 } from '../../src/crypto/bytes.ts'
import { sha256Hex } from '../../src/crypto/digest.ts'
import { writeSpentMark } from '../../src/records/spent-mark.ts'
import { errorOf } from './answers.ts'
import { ADA, at, basic, GRACE, HOUR, refresh, refreshed, startClients } from './clients.ts'
import {
  auditedBesideRefusals,
  claimsOf,
  contents,
  engines,
  random,
  signedIn,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'

async function isAlive(service: TestService, tokens: Tokens): Promise<boolean> {
  return (await userinfo(service, tokens.access_token)).status === 200
}

function sidOf(tokens: Tokens): string {
  return String(claimsOf(tokens.id_token).sid)
}

/** Refused as not live, with nothing written: so nothing ended. */
async function expectNothingEnded(store: TestStore, ask: () => Promise<Response>): Promise<void> {
  const before = await contents(store)
  expect(await errorOf(await ask(), 400)).toMatchObject({ error: 'invalid_grant' })
  expect(await contents(store)).toEqual(before)
}

/** What stands where the token's record is. */
async function recordOf(store: TestStore, token: string): Promise<{ key: string; text: string }> {
  const key = `rt.${await sha256Hex(token)}`
  const entry = await store.adapters().state.get(key)
  return { key, text: entry === null ? '' : (fromUtf8(entry.value) ?? '') }
}

async function rewrite(store: TestStore, token: string, text: string): Promise<void> {
  await store.adapters().state.put((await recordOf(store, token)).key, utf8(text), HOUR)
}

describe.each(engines)('RFC 9700 4.14.2: a spent refresh token on %s', (engine) => {
  it.each([0, 1, 15, 29.9])('%f s later is answered with the successor that the first was', async (age) => {
    const { service, store } = await startClients(engine)
    const first = await signedIn(service)
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(age)
    const again = await refreshed(service, first.refresh_token)
    expect(again.refresh_token).toBe(winner.refresh_token)
    expect(again.access_token).not.toBe(winner.access_token)
    expect([sidOf(again), again.scope]).toEqual([sidOf(winner), winner.scope])
    expect([await isAlive(service, winner), await isAlive(service, again)]).toEqual([true, true])
    expect((await refresh(service, winner.refresh_token)).status).toBe(200)
  })

  it.each([30, 31, 32])('%i s later is refused, and nothing ends', async (age) => {
    const { service, store } = await startClients(engine)
    const first = await signedIn(service)
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(age)
    await expectNothingEnded(store, () => refresh(service, first.refresh_token))
    expect(await isAlive(service, winner)).toBe(true)
    expect((await refresh(service, winner.refresh_token)).status).toBe(200)
  })

  it('33 s later ends its session, and no other of anybody', async () => {
    const { service, store } = await startClients(engine)
    const first = await signedIn(service)
    const others = [await signedIn(service), await at(service, 'native'), await at(service, 'demo', { person: GRACE })]
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(33)
    expect(await errorOf(await refresh(service, first.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })

    expect([await isAlive(service, first), await isAlive(service, winner)]).toEqual([false, false])
    expect((await refresh(service, winner.refresh_token)).status).toBe(400)
    for (const other of others) expect(await isAlive(service, other)).toBe(true)
  })
})

describe('a spent refresh token', () => {
  it('ends its session once, with one audit event, however often it comes', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    store.clock.advance(33)
    const before = auditedBesideRefusals(service).length
    for (let n = 0; n < 3; n++) expect((await refresh(service, first.refresh_token)).status).toBe(400)
    expect(auditedBesideRefusals(service).slice(before)).toMatchObject([
      { event: 'session.ended', subject: ADA, session: sidOf(first), reason: 'reuse', by: 'system' },
    ])
    expect(service.logs.filter((line) => line.includes('refresh_token.reused'))).toHaveLength(1)
  })

  it('leaves the browser signed in, and what a client opens from there is good', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    store.clock.advance(33)
    await refresh(service, first.refresh_token)
    expect((await store.adapters().state.list('sso.')).entries).toHaveLength(1)
    expect(await isAlive(service, await signedIn(service))).toBe(true)
  })

  it('is remembered as long as the session can last', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    let tokens = first
    for (let hour = 0; hour < 23; hour += 11.5) {
      tokens = await refreshed(service, tokens.refresh_token)
      store.clock.advance(11.5 * HOUR)
    }
    tokens = await refreshed(service, tokens.refresh_token)
    expect((await refresh(service, first.refresh_token)).status).toBe(400)
    expect(await isAlive(service, tokens)).toBe(false)
  })

  it.each([0, 31, 33, 11 * HOUR])('%i s later ends nothing when another client presents it', async (age) => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(age)
    await expectNothingEnded(store, () => refresh(service, first.refresh_token, { client_id: 'native' }))
    await expectNothingEnded(store, () => refresh(service, first.refresh_token, { client_id: 'backend' }, basic('backend')))
    expect((await refresh(service, winner.refresh_token)).status).toBe(200)
  })

  it('of a confidential client ends nothing when who presents it does not prove to be that one', async () => {
    const { service, store } = await startClients('memory')
    const first = await at(service, 'backend')
    const winner = await refreshed(service, first.refresh_token, { client_id: 'backend' }, basic('backend'))
    store.clock.advance(33)
    const before = await contents(store)
    expect((await refresh(service, first.refresh_token, { client_id: 'backend', client_secret: 'guess' })).status).toBe(401)
    expect(await contents(store)).toEqual(before)
    expect(await isAlive(service, winner)).toBe(true)
    expect((await refresh(service, first.refresh_token, { client_id: 'backend' }, basic('backend'))).status).toBe(400)
    expect(await isAlive(service, winner)).toBe(false)
  })

  it.each([
    [1, false],
    [3, true],
    [HOUR, true],
  ])('dated %i s ahead, after the clock stepped back, is in grace; the log is told: %s', async (step, told) => {
    const { service, store } = await startClients('memory')
    store.clock.advance(HOUR)
    const first = await signedIn(service)
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(-step)
    expect((await refreshed(service, first.refresh_token)).refresh_token).toBe(winner.refresh_token)
    expect(service.logs.join('\n').includes('refresh_token.mark_ahead')).toBe(told)
  })

  it('whose clock stepped an hour ahead ends its session: that can not be told from theft, and nothing else ends', async () => {
    const { service, store } = await startClients('memory')
    const [first, other] = [await signedIn(service), await signedIn(service)]
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(HOUR - 60)
    expect((await refresh(service, first.refresh_token)).status).toBe(400)
    expect([await isAlive(service, winner), await isAlive(service, other)]).toEqual([false, true])
  })

  it('whose successor was spent in the grace too is answered with what came of it, three deep and no deeper', async () => {
    const { service, store } = await startClients('memory')
    const chain = [await signedIn(service)]
    for (let n = 0; n < 4; n++) {
      store.clock.advance(1)
      chain.push(await refreshed(service, chain.at(-1)?.refresh_token ?? ''))
    }
    const [t0, t1, , , t4] = chain.map(({ refresh_token }) => refresh_token)
    expect((await refreshed(service, t1 ?? '')).refresh_token).toBe(t4)
    await expectNothingEnded(store, () => refresh(service, t0 ?? ''))
    expect((await refresh(service, t4 ?? '')).status).toBe(200)
  })

  it('writes no more than the token it answers with', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    const before = await contents(store)
    const { access_token } = await refreshed(service, first.refresh_token)
    const { [`tok.${claimsOf(access_token).jti}`]: written, ...rest } = await contents(store)
    expect(written).toEqual(expect.any(String))
    expect(rest).toEqual(before)
  })

  it('keeps to what may be asked of a refresh, in grace too', async () => {
    const { service } = await startClients('memory')
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    expect((await refreshed(service, first.refresh_token, { scope: 'openid' })).scope).toBe('openid')
    expect(await errorOf(await refresh(service, first.refresh_token, { scope: 'admin' }), 400)).toMatchObject({ error: 'invalid_scope' })
  })

  it('of a session that has ended brings nothing back', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    const { state } = store.adapters()
    await state.delete(`ses.ada~40acme~2Eexample.${sidOf(first)}`)
    await expectNothingEnded(store, () => refresh(service, first.refresh_token))
    store.clock.advance(33)
    await expectNothingEnded(store, () => refresh(service, first.refresh_token))
  })
})

describe('a successor that never came to be', () => {
  async function half() {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    const lost = await refreshed(service, first.refresh_token)
    await store.adapters().state.delete((await recordOf(store, lost.refresh_token)).key)
    return { service, store, first, lost }
  }

  it('is made by the retry, and is good', async () => {
    const { service, first, lost } = await half()
    const again = await refreshed(service, first.refresh_token)
    expect(again.refresh_token).toBe(lost.refresh_token)
    expect(await isAlive(service, await refreshed(service, again.refresh_token))).toBe(true)
  })

  it('is made once by two retries', async () => {
    const { service, first, lost } = await half()
    const both = await Promise.all([refreshed(service, first.refresh_token), refreshed(service, first.refresh_token)])
    expect(both.map(({ refresh_token }) => refresh_token)).toEqual([lost.refresh_token, lost.refresh_token])
  })

  it('is not made for another client, nor after the grace, nor for a session that has ended', async () => {
    const { service, store, first } = await half()
    await expectNothingEnded(store, () => refresh(service, first.refresh_token, { client_id: 'native' }))
    store.clock.advance(31)
    await expectNothingEnded(store, () => refresh(service, first.refresh_token))
    store.clock.advance(-31)
    await store.adapters().state.delete(`ses.ada~40acme~2Eexample.${sidOf(first)}`)
    await expectNothingEnded(store, () => refresh(service, first.refresh_token))
  })
})

/** A session with a spent token, another of the same client beside it, and what to write in place of the mark of the first. */
const forgeries: [string, (mark: string, beside: { mark: string; sid: string; live: string }) => string | Promise<string>][] = [
  ['cut short', (mark) => mark.slice(0, -1)],
  ['without a session', (mark) => mark.slice(0, mark.lastIndexOf(':') + 1)],
  ['of a minute earlier', (mark) => mark.replace(/\d{13}/, (ms) => String(Number(ms) - 60_000))],
  ['of a minute later', (mark) => mark.replace(/\d{13}/, (ms) => String(Number(ms) + 60_000))],
  ['of the other session by name', (mark, { sid }) => mark.replace(/[^:]+$/, sid)],
  ['of the other token', (_mark, { mark }) => mark],
  ['with the seal of the other token', (mark, beside) => mark.replace(/:[^:]{40,}:/, `:${/:([^:]{40,}):/.exec(beside.mark)?.[1]}:`)],
  ['with a seal of zeros', (mark, { sid }) => `spent:${/\d{13}/.exec(mark)?.[0]}:${'A'.repeat(100)}:${sid}`],
  ['sealed under the successor', (_mark, { sid, live }) => sealed(live, sid)],
  ['of no kind', () => 'spent'],
]

async function sealed(under: string, sid: string): Promise<string> {
  return new TextDecoder().decode(await writeSpentMark(under, { at: Date.UTC(2026, 10, 30, 12), successor: 'slr_x', sid }, random))
}

describe.each(forgeries)('a mark %s', (_what, forge) => {
  it.each([0, 33])('makes the token unknown: %i s later nothing ends, and no successor is told', async (age) => {
    const { service, store } = await startClients('memory')
    const [spent, beside] = [await signedIn(service), await signedIn(service)]
    const [next, besideNext] = [await refreshed(service, spent.refresh_token), await refreshed(service, beside.refresh_token)]
    const marks = { own: await recordOf(store, spent.refresh_token), beside: await recordOf(store, beside.refresh_token) }
    const other = { mark: marks.beside.text, sid: sidOf(beside), live: next.refresh_token }
    await rewrite(store, spent.refresh_token, await forge(marks.own.text, other))

    store.clock.advance(age)
    await expectNothingEnded(store, () => refresh(service, spent.refresh_token))
    for (const tokens of [spent, next, beside, besideNext]) expect(await isAlive(service, tokens)).toBe(true)
    expect((await refresh(service, next.refresh_token)).status).toBe(200)
  })
})

describe('a mark and a successor that are not of one session', () => {
  it('end nothing of another client, even sealed by who has the token', async () => {
    const { service, store } = await startClients('memory')
    const [own, others] = [await signedIn(service), await at(service, 'native')]
    await rewrite(store, own.refresh_token, await sealed(own.refresh_token, sidOf(others)))
    store.clock.advance(33)
    await expectNothingEnded(store, () => refresh(service, own.refresh_token))
    expect(await isAlive(service, others)).toBe(true)
  })

  it('answer nothing in the grace', async () => {
    const { service, store } = await startClients('memory')
    const own = await signedIn(service)
    for (const other of [await at(service, 'native'), await signedIn(service)]) {
      const mark = { at: store.clock.now(), successor: other.refresh_token, sid: sidOf(own) }
      await rewrite(store, own.refresh_token, new TextDecoder().decode(await writeSpentMark(own.refresh_token, mark, random)))
      await expectNothingEnded(store, () => refresh(service, own.refresh_token))
    }
  })
})
