import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { fromUtf8 } from '../../src/crypto/bytes.ts'
import { PortError } from '../../src/ports/error.ts'
import { keys } from '../../src/ports/keys.ts'
import type { State } from '../../src/ports/state.ts'
import { adopt, claims, isolate, START, settings, watchedState } from './keyring-builders.ts'

const DAY = 86_400 // s
const AGE = 11 * DAY // s: by then a record has under 20 days left

/** A ring whose tick has something of everything to do: a key to retire, one to succeed, records to renew. */
async function dueRing() {
  const { state, clock } = watchedState()
  await adopt(state, 'retired', { seenAt: START - 2 * DAY, activateAt: START - 2 * DAY })
  await adopt(state, 'signing', { seenAt: START - DAY / 2, activateAt: START - DAY / 2 })
  clock.move(AGE)
  return { state, clock }
}

async function tick(keyring: ReturnType<typeof isolate>): Promise<void> {
  await keyring.keySet()
  await keyring.rotate()
  await keyring.renew()
}

/** Everything of the ring that does not hang on chance: its keys by their schedule and lifetimes, and its tombstones. */
async function ringIn(state: State): Promise<unknown[]> {
  const found = []
  for (const prefix of ['keyring.', 'issuer:keyring:']) {
    for await (const { key, value, ttl } of state.export?.(prefix) ?? []) {
      const { seenAt, activateAt } = key.startsWith('keyring.') ? JSON.parse(fromUtf8(value) ?? '') : {}
      found.push({ key, ttl, seenAt, activateAt })
    }
  }
  return found
}

type Fault = 'stops' | 'fails' | 'loses the answer'

/** The nth call of a State has a fault; `stops`: it is applied, never answered, and nothing after it is. */
function struck(state: State, fault: Fault, nth: number) {
  let calls = 0
  const { promise: stopped, resolve: stop } = Promise.withResolvers<'stopped'>()
  const around = async <T>(call: () => Promise<T>): Promise<T> => {
    const lead = nth - ++calls
    if (fault === 'stops' && lead < 0) return new Promise<T>(() => {})
    if (lead !== 0) return call()
    if (fault !== 'fails') await call().catch(() => undefined)
    if (fault !== 'stops') throw new PortError('Unavailable', 'a test has it that this call fails')
    stop('stopped')
    return new Promise<T>(() => {})
  }
  const wrapped = new Proxy(state, {
    get(target, name, receiver) {
      const method = Reflect.get(target, name, receiver)
      if (name === 'export' || name === 'watch' || typeof method !== 'function') return method
      return (...given: unknown[]) => around(async () => Reflect.apply(method, target, given))
    },
  })
  return { state: wrapped, calls: () => calls, stopped }
}

async function undisturbed(): Promise<{ ring: unknown[]; calls: number }> {
  const { state, clock } = await dueRing()
  const counted = struck(state, 'fails', 0)
  await tick(isolate({ state: counted.state, clock }))
  return { ring: await ringIn(state), calls: counted.calls() }
}

describe.each<Fault>(['stops', 'fails', 'loses the answer'])('a tick of the keyring one of whose calls %s', (fault) => {
  it('leaves a ring that signs, and what the next one makes of it is as if nothing had been', async () => {
    const { ring, calls } = await undisturbed()
    expect(calls).toBeGreaterThan(8)
    for (let nth = 1; nth <= calls; nth++) {
      const { state, clock } = await dueRing()
      const broken = struck(state, fault, nth)
      await Promise.race([tick(isolate({ state: broken.state, clock })).catch(() => undefined), broken.stopped])

      const later = isolate({ state, clock })
      const token = await later.sign('ES256', 'JWT', claims(clock))
      expect(decodeProtectedHeader(token).kid, `call ${nth}`).toBe('signing')
      await tick(later)
      expect(await ringIn(state), `call ${nth}`).toEqual(ring)
      expect(await isolate({ state, clock }).verify(token, { typ: ['JWT'] })).not.toBeNull()
    }
  })
})

it('the ring of this test has work of every kind', async () => {
  const { ring } = await undisturbed()
  const records = JSON.stringify(ring)
  expect(records).toContain(keys.retiredSigningKey('ES256', 'retired'))
  expect(records).not.toContain(keys.signingKey('ES256', 'retired'))
  expect(ring).toHaveLength(3)
  expect(ring).toContainEqual(expect.objectContaining({ key: keys.signingKey('ES256', 'signing'), ttl: 30 * DAY }))
})

const HOUR = 3_600
/** seconds from the first key on: before its successor is due, just published, just signing, just before and after the first one goes. */
const MOMENTS = [DAY - 300, DAY, DAY + 900, DAY + 900 + 3_600 + 300, DAY + 900 + 3_600 + 301 + 300]

describe.each(MOMENTS)('a clock that steps by an hour and back, %d s into the life of a ring', (moment) => {
  it.each([HOUR, -HOUR])('first by %d s: every isolate signs, each token is taken, and no period gets two keys', async (step) => {
    const { state, clock } = watchedState()
    const rings = settings({})
    const [warm, ticking] = [isolate({ state, clock, settings: rings }), isolate({ state, clock, settings: rings })]
    for (let at = 0; at < moment; at += 300) {
      await tick(ticking)
      clock.move(300)
    }
    clock.move(START + moment - clock.seconds())
    const issued: { token: string; exp: number }[] = []
    for (const by of [0, step, -step, 300, 300]) {
      clock.move(by)
      await tick(ticking)
      for (const one of [warm, isolate({ state, clock, settings: rings })]) {
        const of = claims(clock)
        issued.push({ token: await one.sign('ES256', 'JWT', of), exp: of.exp })
      }
      for (const { token } of issued.filter(({ exp }) => exp > clock.seconds())) {
        const { kid } = decodeProtectedHeader(token)
        const cold = isolate({ state, clock, settings: rings })
        for (const one of [warm, cold]) {
          expect(await one.verify(token, { typ: ['JWT'] }), `after ${by} s`).not.toBeNull()
          expect((await one.keySet()).keys.map((key) => key.kid)).toContain(kid)
        }
      }
    }
    const made = [warm, ticking].flatMap(({ lines }) => lines.filter(({ event }) => event === 'keyring.next_key'))
    expect(made.length).toBeLessThanOrEqual(1)
  })
})
