import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { expect, it } from 'vitest'
import type { SigningAlg } from '../../src/config/values.ts'
import { generateKeyPair } from '../../src/keyring/key-pair.ts'
import { keys } from '../../src/ports/keys.ts'
import { claims, copyOf, isolate, type MovingClock, seeded, settings, watchedState } from './keyring-builders.ts'

const DAY = 86_400 // s
const DAYS = 30
const TICK = 300 // s
const RINGS = ['ES256', 'RS256'] as const
const TOKENS = 20 // a day and ring
const CACHES = 600 // s: Envoy keeps a key set for as long, whatever it is told, and asks for no kid it does not know

const rsa = await Promise.all([1, 2, 3].map(() => generateKeyPair('RS256')))

interface KeySet {
  keys: JWK[]
  maxAge: number
}

/** A relying party that fetches the key set when what it has is too old, and never for a kid it does not know. */
function relyingParty(keySet: () => Promise<KeySet>, clock: MovingClock, mayKeep: (maxAge: number) => number) {
  let held: { keys: JWK[]; until: number } | null = null
  const verified = new Set<string>()

  async function current(): Promise<JWK[]> {
    if (held === null || clock.seconds() >= held.until) {
      const { keys, maxAge } = await keySet()
      held = { keys, until: clock.seconds() + mayKeep(maxAge) }
    }
    return held.keys
  }

  return {
    /** Whether it takes the token now. A signature that was right by a key stays right by that key. */
    async takes(token: string): Promise<boolean> {
      const { kid } = decodeProtectedHeader(token)
      const key = (await current()).find((one) => one.kid === kid)
      if (key === undefined) return false
      const once = `${token} ${JSON.stringify(key)}`
      if (!verified.has(once)) await jwtVerify(token, createLocalJWKSet({ keys: [key] }), { currentDate: new Date(clock.now()) })
      verified.add(once)
      return true
    },
    knows: (kid: unknown) => held === null || clock.seconds() >= held.until || held.keys.some((key) => key.kid === kid),
  }
}

it('in a month of daily rotation no relying party meets a token it cannot verify, nor one whose key it could not have', async () => {
  const { state, clock } = watchedState()
  const draw = seeded(7)
  const rings = settings({ rings: [...RINGS] })
  let made = 0
  const generate = async (alg: SigningAlg) => (alg === 'RS256' ? copyOf(rsa[made++ % rsa.length]) : generateKeyPair(alg))
  const open = () => isolate({ state, clock, settings: rings, generate })
  const [ticking, publishing] = [open(), open()]
  const signing = [open(), open(), open()]
  const parties = [relyingParty(publishing.keySet, clock, (maxAge) => maxAge), relyingParty(publishing.keySet, clock, () => CACHES)]
  const [start, publishedAt] = [clock.seconds(), new Map<unknown, number>()]
  const signers = new Set<string>()
  let checked = 0
  const events: { at: number; act: () => Promise<void> }[] = []

  async function tick(): Promise<void> {
    await ticking.keySet()
    await ticking.rotate()
    await ticking.renew()
    for (const { kid } of (await publishing.keySet()).keys) if (!publishedAt.has(kid)) publishedAt.set(kid, clock.seconds())
  }

  async function sign(alg: SigningAlg, by: number): Promise<void> {
    const of = claims(clock)
    const token = await (signing[by] ?? publishing).sign(alg, 'JWT', of)
    const { kid } = decodeProtectedHeader(token)
    signers.add(`${alg}:${kid}`)
    // Whoever fetched as long ago as anybody may have: the first key of a ring apart, which signs from its first moment.
    const since = clock.seconds() - (publishedAt.get(kid) ?? Number.POSITIVE_INFINITY)
    expect(since >= CACHES || publishedAt.get(kid) === start, `${kid} was published for ${since} s when it signed`).toBe(true)
    for (const party of parties) expect(party.knows(kid)).toBe(true)

    const verify = async () => {
      for (const party of parties) expect(await party.takes(token), `${of.exp - clock.seconds()} s before it expires`).toBe(true)
      expect(await publishing.verify(token, { typ: ['JWT'] })).not.toBeNull()
      checked++
    }
    for (const after of [draw(3_600), draw(3_600), 3_599]) insert({ at: clock.seconds() + after, act: verify })
  }

  function insert(event: (typeof events)[number]): void {
    const later = events.findIndex(({ at }) => at > event.at)
    events.splice(later < 0 ? events.length : later, 0, event)
  }

  const planned = RINGS.flatMap((alg) =>
    Array.from({ length: TOKENS * DAYS }, () => ({ at: start + 1 + draw(DAYS * DAY), act: () => sign(alg, draw(signing.length)) })),
  )
  events.push(...planned.sort((a, b) => a.at - b.at))
  for (let at = start; at < start + DAYS * DAY; at += TICK) {
    while ((events[0]?.at ?? at) < at) await next()
    clock.move(at - clock.seconds())
    await tick()
  }
  while (events.length > 0) await next()

  async function next(): Promise<void> {
    const event = events.shift()
    if (event === undefined) return
    clock.move(event.at - clock.seconds())
    await event.act()
  }

  expect(checked).toBe(RINGS.length * TOKENS * DAYS * 3)
  expect(signers.size).toBeGreaterThanOrEqual(RINGS.length * (DAYS - 1))
  // Of all it had, a ring holds the one that signs and at most its neighbours; the rest left a tombstone.
  for (const alg of RINGS) {
    expect((await state.list(keys.signingKeys(alg))).entries.length).toBeLessThanOrEqual(2)
    expect((await state.list(keys.retiredSigningKeys(alg))).entries.length).toBeGreaterThanOrEqual(DAYS - 2)
  }
})
