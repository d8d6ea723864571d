import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { isolate, type Line, movingClock, random, recordingLog, watchedState } from '../../test/crash/keyring-builders.ts'
import { type Policy, policySchema } from '../config/policy.ts'
import type { Keyring } from '../keyring/keyring.ts'
import { PortError } from '../ports/error.ts'
import type { Fetch } from '../ports/platform.ts'
import { type BackChannelTarget, type DeliveryParts, deliver } from './back-channel.ts'

const CLIENTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const CLOCK = movingClock()
const LEASE = { id: 'lease-1', until: CLOCK.seconds() + 60 }
const TIMEOUT = 40 // ms

function addressOf(client: string): string {
  return `https://${client}.acme.example/out`
}

/** Each client with an address, but for what is said of some. */
function policyWith(fields: Record<string, object | undefined> = {}): Policy {
  const rows = CLIENTS.map((id) => [id, { kind: 'public', redirects: [], requires: ['emp:all'], backchannel_logout_uri: addressOf(id) }])
  const clients = Object.fromEntries(rows.filter(([id]) => !(String(id) in fields && fields[String(id)] === undefined)))
  for (const [id, more] of Object.entries(fields)) if (more !== undefined) clients[id] = { ...clients[id], ...more }
  return policySchema.parse({ version: 1, groups: { 'emp:all': {} }, clients })
}

function rows(...clients: string[]): BackChannelTarget[] {
  return clients.map((client_id, n) => ({ delivery_id: `${client_id}${n}`, client_id, subject: 'ada@acme.example', sid: `s${n}` }))
}

interface Call {
  host: string
  token: string
  init: RequestInit
}

interface Arrangement {
  answer?: (host: string, signal: AbortSignal | null | undefined) => Response | Promise<Response>
  policy?: Policy
  keyring?: Pick<Keyring, 'sign' | 'defaultAlg'>
  storeDown?: boolean
  clock?: DeliveryParts['clock']
}

function arranged({ answer = () => new Response(), policy = policyWith(), keyring, storeDown = false, clock = CLOCK }: Arrangement = {}) {
  const calls: Call[] = []
  const lines: Line[] = []
  const settled = { acknowledged: [] as string[], released: [] as string[] }
  const underWay = { now: 0, most: 0 }
  const fetch: Fetch = async (input, init = {}) => {
    const { host } = new URL(String(input))
    calls.push({ host, token: new URLSearchParams(String(init.body)).get('logout_token') ?? '', init })
    underWay.now += 1
    underWay.most = Math.max(underWay.most, underWay.now)
    try {
      return await answer(host, init.signal)
    } finally {
      underWay.now -= 1
    }
  }
  const settle = (list: string[]) => async (lease: string, deliveries: readonly string[]) => {
    if (storeDown) throw new PortError('Unavailable', 'the store is down')
    expect(lease).toBe(LEASE.id)
    list.push(...deliveries)
  }
  const parts: DeliveryParts = {
    url: 'https://id.acme.example',
    policy,
    keyring: keyring ?? isolate({ ...watchedState(), clock }),
    clock,
    random,
    fetch,
    log: recordingLog(lines),
    timeout: TIMEOUT,
    store: { acknowledgeTargets: settle(settled.acknowledged), releaseTargets: settle(settled.released) },
  }
  return { parts, calls, lines, settled, underWay }
}

function silence(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}

describe('a delivery', () => {
  it('posts a logout token of the session as a form, and takes the row of who answers away', async () => {
    const { parts, calls, settled } = arranged()
    const summary = await deliver(rows('a'), LEASE, parts)
    const [call] = calls
    expect(call).toMatchObject({
      host: 'a.acme.example',
      init: { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, redirect: 'manual' },
    })
    expect(call?.init.body).toBe(`logout_token=${call?.token}`)
    expect(decodeJwt(call?.token ?? '')).toMatchObject({ aud: 'a', sub: 'ada@acme.example', sid: 's0' })
    expect(settled).toEqual({ acknowledged: ['a0'], released: [] })
    expect(summary).toEqual({ told: 1, failed: 0, gone: 0, left: 0, outcomes: [{ client: 'a', result: 'told', status: 200 }] })
  })

  it.each([200, 202, 204, 299])('answered with %i has arrived', async (status) => {
    const { parts, settled } = arranged({ answer: () => new Response(null, { status }) })
    expect(await deliver(rows('a'), LEASE, parts)).toMatchObject({ told: 1, outcomes: [{ status }] })
    expect(settled).toEqual({ acknowledged: ['a0'], released: [] })
  })

  it.each([400, 401, 404, 429, 500, 503])('answered with %i is tried again', async (status) => {
    const { parts, settled } = arranged({ answer: () => new Response(null, { status }) })
    expect(await deliver(rows('a'), LEASE, parts)).toMatchObject({ failed: 1, outcomes: [{ client: 'a', result: 'failed', status }] })
    expect(settled).toEqual({ acknowledged: [], released: ['a0'] })
  })

  it.each<[string, Arrangement['answer']]>([
    ['redirected', () => new Response(null, { status: 302, headers: { location: 'https://b.acme.example/' } })],
    ['timed out', (_host, signal) => silence(signal)],
    ['unreachable', () => Promise.reject(new TypeError('no such host'))],
  ])('that is %s is tried again', async (reason, answer) => {
    const { parts, settled } = arranged(answer === undefined ? {} : { answer })
    expect((await deliver(rows('a'), LEASE, parts)).outcomes).toEqual([{ client: 'a', result: 'failed', reason }])
    expect(settled).toEqual({ acknowledged: [], released: ['a0'] })
  })

  it('has a token of its own at every attempt', async () => {
    const { parts, calls } = arranged({ answer: () => new Response(null, { status: 500 }) })
    for (let attempt = 0; attempt < 3; attempt++) await deliver(rows('a'), LEASE, parts)
    expect(new Set(calls.map(({ token }) => decodeJwt(token).jti)).size).toBe(3)
  })

  it('whose token can not be signed is tried again, and nothing is sent', async () => {
    const keyring = { defaultAlg: 'ES256', sign: () => Promise.reject(new PortError('Unavailable', 'no key')) } as const
    const { parts, calls, settled } = arranged({ keyring })
    expect((await deliver(rows('a'), LEASE, parts)).outcomes).toEqual([{ client: 'a', result: 'failed', reason: 'not signed' }])
    expect(calls).toEqual([])
    expect(settled.released).toEqual(['a0'])
  })

  it('that the store can not note has arrived all the same, and the rest goes on', async () => {
    const { parts, calls, lines } = arranged({ storeDown: true })
    expect(await deliver(rows('a', 'b'), LEASE, parts)).toMatchObject({ told: 2 })
    expect(calls).toHaveLength(2)
    expect(lines.filter(({ event }) => event === 'logout.not_settled').map(({ client }) => client)).toEqual(['a', 'b'])
  })

  it('of nothing does nothing', async () => {
    const { parts, lines } = arranged()
    expect(await deliver([], LEASE, parts)).toEqual({ told: 0, failed: 0, gone: 0, left: 0, outcomes: [] })
    expect(lines).toEqual([])
  })
})

describe('the address', () => {
  it('is the one the policy has now', async () => {
    const { parts, calls } = arranged({ policy: policyWith({ a: { backchannel_logout_uri: 'https://moved.acme.example/out' } }) })
    await deliver(rows('a'), LEASE, parts)
    expect(calls.map(({ host }) => host)).toEqual(['moved.acme.example'])
  })

  it.each([
    ['not in the policy', undefined],
    ['no address', { backchannel_logout_uri: undefined }],
  ])('of a client that is gone (%s) is not called, and its row goes', async (reason, fields) => {
    const { parts, calls, settled, lines } = arranged({ policy: policyWith({ a: fields }) })
    expect(await deliver(rows('a'), LEASE, parts)).toMatchObject({ gone: 1, outcomes: [{ client: 'a', result: 'gone', reason }] })
    expect(calls).toEqual([])
    expect(settled).toEqual({ acknowledged: ['a0'], released: [] })
    expect(lines).toEqual([{ level: 'info', event: 'logout.gone', client: 'a', reason, count: 1 }])
  })

  it('that is private, whatever the policy was checked against, is not called', async () => {
    const { parts, calls, settled } = arranged({ policy: policyWith({ a: { backchannel_logout_uri: 'http://localhost:3000/out' } }) })
    expect((await deliver(rows('a'), LEASE, parts)).outcomes).toEqual([{ client: 'a', result: 'failed', reason: 'address refused' }])
    expect(calls).toEqual([])
    expect(settled.released).toEqual(['a0'])
  })
})

describe('many deliveries', () => {
  it('go five at a time', async () => {
    const later = () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response()), 1))
    const { parts, underWay, settled } = arranged({ answer: later })
    const all = rows(...CLIENTS, ...CLIENTS, ...CLIENTS)
    expect(await deliver(all, LEASE, parts)).toMatchObject({ told: 21, left: 0 })
    expect(underWay).toEqual({ now: 0, most: 5 })
    expect(settled.acknowledged.sort()).toEqual(all.map(({ delivery_id }) => delivery_id).sort())
  })

  it('to a silent client delay no other: all others are told before its first runs out', async () => {
    let toldBefore = 0
    const { parts, settled } = arranged({
      answer: (host, signal) => {
        if (host !== 'a.acme.example') return new Response()
        signal?.addEventListener('abort', () => {
          toldBefore = Math.max(toldBefore, settled.acknowledged.length)
        })
        return silence(signal)
      },
    })
    const others = CLIENTS.slice(1).flatMap((client) => [client, client, client])
    const summary = await deliver(rows('a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', ...others), LEASE, parts)
    expect(summary).toMatchObject({ told: 18, failed: 10 })
    expect(toldBefore).toBe(18)
  })

  it('ask a client that was silent no more: its other rows wait for another run', async () => {
    const { parts, calls, settled } = arranged({ answer: (_host, signal) => silence(signal) })
    const all = rows(...Array.from({ length: 20 }, () => 'a'))
    const { failed, outcomes } = await deliver(all, LEASE, parts)
    expect(calls).toHaveLength(5)
    expect(failed).toBe(20)
    expect(outcomes.filter((outcome) => 'reason' in outcome && outcome.reason === 'silent a moment ago')).toHaveLength(15)
    expect(settled.released.sort()).toEqual(all.map(({ delivery_id }) => delivery_id).sort())
  })

  it('ask a client that answers with an error for each', async () => {
    const { parts, calls } = arranged({ answer: () => new Response(null, { status: 500 }) })
    await deliver(rows('a', 'a', 'a', 'a', 'a', 'a', 'a'), LEASE, parts)
    expect(calls).toHaveLength(7)
  })

  it('begin none that might end after the lease, and leave it as it is', async () => {
    const clock = movingClock()
    const answer = () => {
      clock.move(20)
      return new Response()
    }
    const { parts, calls, settled } = arranged({ clock, answer })
    const summary = await deliver(rows(...CLIENTS, ...CLIENTS), LEASE, parts)
    expect(calls.length).toBeLessThan(14)
    expect(summary).toMatchObject({ told: calls.length, left: 14 - calls.length })
    expect(settled).toEqual({ acknowledged: expect.any(Array), released: [] })
  })
})

describe('the log', () => {
  it('has a line for each way it went with each client, and no address, token or person', async () => {
    const { parts, lines, calls } = arranged({
      answer: (host) => new Response(null, { status: host === 'b.acme.example' ? 500 : 200 }),
      policy: policyWith({ c: undefined }),
    })
    await deliver(rows('a', 'a', 'b', 'b', 'b', 'c'), LEASE, parts)
    const byClient = lines.toSorted((one, other) => String(one.client).localeCompare(String(other.client)))
    expect(byClient).toEqual([
      { level: 'info', event: 'logout.told', client: 'a', status: 200, count: 2 },
      { level: 'warn', event: 'logout.failed', client: 'b', status: 500, count: 3 },
      { level: 'info', event: 'logout.gone', client: 'c', reason: 'not in the policy', count: 1 },
    ])
    const written = JSON.stringify(lines)
    for (const secret of ['ada', 'acme.example', 'https', ...calls.map(({ token }) => token)]) expect(written).not.toContain(secret)
  })
})
