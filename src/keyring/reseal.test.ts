import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, random, START, settings, watchedState, writeEntry } from '../../test/crash/keyring-builders.ts'
import { localSealer } from '../adapters/local/sealer.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { fromUtf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { State } from '../ports/state.ts'
import { writeInstant } from '../records/instant.ts'
import { generateKeyPair } from './key-pair.ts'
import type { KeyName } from './reseal.ts'

const [OLD, NEW, LOST] = [1, 2, 3].map((byte) => encodeBase64url(new Uint8Array(32).fill(byte)))
const DAY = 86_400

const before = localSealer({ sealKey: OLD, random })
const changing = localSealer({ sealKey: NEW, previous: OLD, random })
const after = localSealer({ sealKey: NEW, random })
const another = localSealer({ sealKey: LOST, random })
/** As KMS: its seals don't say what made them. */
const untelling: Sealer = { seal: after.seal, open: after.open }

function reseal(parts: Parameters<typeof isolate>[0], all = false) {
  const resealed: KeyName[] = []
  return isolate(parts)
    .reseal({ all, resealed: (key) => resealed.push(key) })
    .then((report) => ({ report, kids: resealed.map(({ kid }) => kid) }))
}

function daysAgo(days: number): string {
  return writeInstant(START - days * DAY)
}

/** A store with three keys that were sealed under the old key. */
async function sealedBefore() {
  const watched = watchedState()
  for (const n of [1, 2, 3]) await adopt(watched.state, `k${n}`, { seenAt: daysAgo(n), activateAt: daysAgo(n), sealer: before })
  return watched
}

async function kidThatSigns(parts: Parameters<typeof isolate>[0]) {
  return decodeProtectedHeader(await isolate(parts).sign('ES256', 'JWT', claims(parts.clock))).kid
}

async function fieldsOf(state: State, kid: string): Promise<Record<string, unknown>> {
  const entry = await state.get(keys.signingKey('ES256', kid))
  return JSON.parse(fromUtf8(entry?.value ?? new Uint8Array()) ?? '')
}

describe('re-sealing', () => {
  it('puts every key under the sealer of now, so that the earlier one can go, and changes nothing else of them', async () => {
    const { state, clock } = await sealedBefore()
    const { wrapped: _, ...kept } = await fieldsOf(state, 'k1')
    await expect(kidThatSigns({ state, clock, sealer: after })).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await isolate({ state, clock, sealer: changing }).stale()).toBe(3)

    const held = isolate({ state, clock, sealer: changing })
    await held.keySet()
    const kids: string[] = []
    const report = await held.reseal({ all: false, resealed: ({ kid }) => kids.push(kid) })
    expect(await held.stale()).toBe(0)
    expect(report).toEqual({ resealed: 3, left: 0, untold: 0, unopenable: [] })
    expect(kids).toEqual(['k1', 'k2', 'k3'])
    expect(await kidThatSigns({ state, clock, sealer: after })).toBe('k1')
    expect(await isolate({ state, clock, sealer: after }).stale()).toBe(0)
    const { wrapped: __, ...still } = await fieldsOf(state, 'k1')
    expect(still).toEqual(kept)
  })

  it('finds nothing to do the second time, and writes nothing', async () => {
    const { state, clock } = await sealedBefore()
    await reseal({ state, clock, sealer: changing })
    const revisions = (await state.list('keyring.')).entries.map(({ rev }) => rev)
    expect((await reseal({ state, clock, sealer: changing })).report).toEqual({ resealed: 0, left: 0, untold: 0, unopenable: [] })
    expect((await state.list('keyring.')).entries.map(({ rev }) => rev)).toEqual(revisions)
  })

  it('takes a key that another implementation sealed under a context of its own into ours', async () => {
    const { state, clock } = watchedState()
    const context = { instance: 'acme', purpose: 'sluis-signing', alg: 'ES256', kid: 'theirs' }
    await adopt(state, 'theirs', { seenAt: START, activateAt: START, context })
    expect((await reseal({ state, clock })).kids).toEqual(['theirs'])
    expect((await fieldsOf(state, 'theirs')).context).toEqual({ instance: 'acme', purpose: 'sign' })
    expect(await kidThatSigns({ state, clock })).toBe('theirs')
  })

  it('names the keys that do not open, leaves them as they are and does the others', async () => {
    const { state, clock } = await sealedBefore()
    await adopt(state, 'lost', { seenAt: START, activateAt: START, sealer: another })
    const lost = await state.get(keys.signingKey('ES256', 'lost'))
    const { report } = await reseal({ state, clock, sealer: changing })
    expect(report).toEqual({ resealed: 3, left: 0, untold: 0, unopenable: [{ alg: 'ES256', kid: 'lost' }] })
    expect(await state.get(keys.signingKey('ES256', 'lost'))).toEqual(lost)
  })

  it('does nothing to a key that is only published', async () => {
    const { state, clock } = watchedState()
    const { publicKey } = await generateKeyPair('ES256')
    await writeEntry(state, 'public', { jwk: publicKey, seenAt: START, activateAt: START })
    expect((await reseal({ state, clock, sealer: changing })).report).toEqual({ resealed: 0, left: 0, untold: 0, unopenable: [] })
  })

  it('where seals do not say what made them does all when it is asked to, and else none', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'k', { seenAt: START, activateAt: START, sealer: untelling })
    const before = await fieldsOf(state, 'k')
    expect((await reseal({ state, clock, sealer: untelling })).report).toMatchObject({ resealed: 0, untold: 1 })
    expect(await fieldsOf(state, 'k')).toEqual(before)
    expect((await reseal({ state, clock, sealer: untelling }, true)).report).toMatchObject({ resealed: 1, untold: 0 })
    expect((await fieldsOf(state, 'k')).wrapped).not.toEqual(before.wrapped)
    expect(await kidThatSigns({ state, clock, sealer: untelling })).toBe('k')
  })

  it('keeps no seal that it can not open again', async () => {
    const { state, clock } = await sealedBefore()
    const broken: Sealer = { ...changing, seal: another.seal }
    expect((await reseal({ state, clock, sealer: broken })).report).toMatchObject({ resealed: 0, unopenable: { length: 3 } })
    expect(await kidThatSigns({ state, clock, sealer: before })).toBe('k1')
  })

  it('stopped after any write leaves every key openable, and the next run does the rest', async () => {
    for (let written = 0; written <= 3; written++) {
      const { state, clock } = await sealedBefore()
      let writes = 0
      const stopping: State = {
        ...state,
        update: (...args) => (writes++ < written ? state.update(...args) : Promise.reject(new PortError('Unavailable', 'stopped'))),
      }
      const first = await reseal({ state: stopping, clock, sealer: changing }).catch((error: unknown) => error)
      if (written < 3) expect(first).toMatchObject({ code: 'Unavailable' })
      expect(await isolate({ state, clock, sealer: changing }).stale()).toBe(3 - written)
      for (const n of [1, 2, 3]) expect(await opens(state, `k${n}`, changing)).toBe(true)
      expect((await reseal({ state, clock, sealer: changing })).report).toMatchObject({ resealed: 3 - written, left: 0 })
      expect(await isolate({ state, clock, sealer: after }).stale()).toBe(0)
    }
  })

  it('by two at once, and beside the tick that renews the records, ends with every key under the sealer of now', async () => {
    const { state, clock } = await sealedBefore()
    clock.move(11 * DAY)
    const [one, two] = await Promise.all([
      reseal({ state, clock, sealer: changing }),
      reseal({ state, clock, sealer: changing }),
      isolate({ state, clock, sealer: changing }).renew(),
    ])
    expect(one.report.left + two.report.left).toBe(0)
    expect(one.report.resealed + two.report.resealed).toBe(3)
    for (const n of [1, 2, 3]) expect(await opens(state, `k${n}`, after)).toBe(true)
  })

  it('while the sealer is away is Unavailable, and loses nothing', async () => {
    const { state, clock } = await sealedBefore()
    const away: Sealer = { ...changing, open: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expect(reseal({ state, clock, sealer: away })).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await kidThatSigns({ state, clock, sealer: before })).toBe('k1')
  })
})

describe('a key that is lost', () => {
  /** A ring whose only key does not open here, and a day on. */
  async function lostRing() {
    const { state, clock } = watchedState()
    await adopt(state, 'lost', { seenAt: START - DAY, activateAt: START - DAY, sealer: another })
    return { state, clock }
  }

  it('gets no successor by rotation, however long it goes on, and each tick says so and what to do', async () => {
    const { state, clock } = await lostRing()
    const keyring = isolate({ state, clock })
    for (let day = 0; day < 3; day++) {
      await keyring.rotate()
      clock.move(DAY)
    }
    expect((await state.list('keyring.')).entries).toHaveLength(1)
    const said = keyring.lines.filter(({ event }) => event === 'keyring.not_rotated')
    expect(said).toHaveLength(3)
    expect(said[0]).toMatchObject({ level: 'error', kid: 'lost', reason: expect.stringContaining('npm run reseal -- --replace') })
    await expect(keyring.sign('ES256', 'JWT', claims(clock))).rejects.toThrow(/lost: its seal does not open.*npm run reseal -- --replace/)
  })

  it('that opens again with the key put back is rotated as ever', async () => {
    const { state, clock } = await lostRing()
    await isolate({ state, clock }).rotate()
    await isolate({ state, clock, sealer: another }).rotate()
    expect((await state.list('keyring.')).entries).toHaveLength(2)
  })

  it('is replaced by a word of the operator: the new key signs at once, the lost one is published while its tokens live', async () => {
    const { state, clock } = await lostRing()
    const keyring = isolate({ state, clock })
    const kid = await keyring.replace('ES256', 'lost')
    expect(decodeProtectedHeader(await keyring.sign('ES256', 'JWT', claims(clock))).kid).toBe(kid)
    const set = await keyring.keySet()
    expect(set.keys.map((key) => key.kid)).toEqual([kid, 'lost'])
    expect(set.maxAge).toBe(0)
    clock.move(3_600 + 300 + 1)
    await keyring.rotate()
    expect((await keyring.keySet()).keys.map((key) => key.kid)).toEqual([kid])
  })

  it('that was still to sign is replaced in its time', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'signing', { seenAt: START - DAY, activateAt: START - DAY })
    await adopt(state, 'lost', { seenAt: START, activateAt: START + 900, sealer: another })
    const keyring = isolate({ state, clock })
    const kid = await keyring.replace('ES256', 'lost')
    const signer = async () => decodeProtectedHeader(await keyring.sign('ES256', 'JWT', claims(clock))).kid
    expect(await signer()).toBe('signing')
    clock.move(901)
    expect(await signer()).toBe(kid)
  })

  it('is replaced once, by how many ever ask', async () => {
    const { state, clock } = await lostRing()
    const made = await Promise.all(Array.from({ length: 10 }, () => isolate({ state, clock }).replace('ES256', 'lost')))
    expect(new Set(made.filter((kid) => kid !== null)).size).toBe(1)
    expect((await state.list('keyring.')).entries).toHaveLength(2)
    await expect(isolate({ state, clock }).replace('ES256', 'lost')).rejects.toThrow('has a successor')
  })

  it('that was made in the running period is replaced too', async () => {
    const { state, clock } = watchedState()
    clock.move(DAY)
    const keyring = isolate({ state, clock, sealer: another })
    await keyring.keySet()
    clock.move(DAY)
    await keyring.rotate()
    clock.move(901)
    const [active] = (await keyring.keySet()).keys
    const kid = await isolate({ state, clock }).replace('ES256', String(active?.kid))
    expect(kid).not.toBeNull()
    expect(await kidThatSigns({ state, clock })).toBe(kid)
  })

  it.each([
    ['ES256', 'nobody', /no key ES256:nobody/],
    ['ES384', 'fine', /no key ES384:fine/],
    ['ES256', 'fine', /opens/],
  ] as const)('is what %s:%s is not: refused', async (alg, kid, why) => {
    const { state, clock } = watchedState()
    await adopt(state, 'fine', { seenAt: START, activateAt: START })
    const refused = isolate({ state, clock, settings: settings({ rings: ['ES256'] }) }).replace(alg, kid)
    await expect(refused).rejects.toMatchObject({ code: 'Unsupported', message: expect.stringMatching(why) })
    expect((await state.list('keyring.')).entries).toHaveLength(1)
  })
})

/** Whether a sealer opens what a record holds. */
async function opens(state: State, kid: string, by: Sealer): Promise<boolean> {
  const { wrapped, context } = await fieldsOf(state, kid)
  const sealed = Uint8Array.from(atob(String(wrapped)), (character) => character.charCodeAt(0))
  const opened = await by.open(sealed, context as { instance: string; purpose: string }).catch(() => null)
  return opened !== null
}
