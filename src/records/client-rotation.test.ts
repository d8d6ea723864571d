import { describe, expect, it } from 'vitest'
import { seededScheduler } from '../adapters/memory/scheduler.ts'
import { memorySecrets, secretsMemory } from '../adapters/memory/secrets.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { Secrets } from '../ports/secrets.ts'
import { overlapEnd, rotateClientSecret, standing } from './client-rotation.ts'
import { createClientSecret, readClientSecret } from './client-secret.ts'

const PATH = 'external/oidc/web'
const HOUR = 3_600_000
const DAY = 24 * HOUR
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

function arrange() {
  let now = Date.UTC(2026, 10, 30)
  const clock = { now: () => now }
  const memory = secretsMemory()
  const secrets = memorySecrets({ clock, memory })
  const parts = { secrets, clock, random }
  return {
    ...parts,
    memory,
    parts,
    pass: (ms: number) => {
      now += ms
    },
    rotate: (overlap = DAY, force = false, over: Secrets = secrets) =>
      rotateClientSecret('web', { overlap, force }, { ...parts, secrets: over }),
    /** The secrets that are good now, the current one first. */
    async good(): Promise<string[]> {
      const kept = await standing(secrets, PATH)
      const accepted = kept && readClientSecret('web', PATH, kept)
      if (accepted === null || 'problem' in accepted) return []
      return [accepted.current, ...(overlapEnd(accepted, clock) === null ? [] : [accepted.previous ?? ''])]
    },
  }
}

describe('a rotation', () => {
  it('keeps the secret of now good for a day, in the bytes every reader knows', async () => {
    const { parts, secrets, rotate, good, pass } = arrange()
    await createClientSecret('web', parts)
    const [old = ''] = await good()
    pass(1)
    expect(await rotate()).toEqual({ outcome: 'rotated', previousUntil: parts.clock.now() + DAY })
    expect(fromUtf8((await secrets.get(PATH)).value)).toMatch(/^\{"client-id":"web","client-secret":"[\w-]{43}","schema":"oidc\/v1"\}$/)
    const [fresh] = await good()
    expect(fresh).not.toBe(old)
    pass(DAY - 1)
    expect(await good()).toEqual([fresh, old])
    pass(1)
    expect(await good()).toEqual([fresh])
  })

  it.each([1_000, HOUR, 7 * DAY])('keeps it good for the %i ms that were asked for', async (overlap) => {
    const { parts, rotate, good, pass } = arrange()
    await createClientSecret('web', parts)
    const [old = ''] = await good()
    await rotate(overlap)
    pass(overlap - 1)
    expect((await good())[1]).toBe(old)
    pass(1)
    expect(await good()).toHaveLength(1)
  })

  it('with no overlap ends it with the one write that brings the new one', async () => {
    const { parts, memory, rotate, good } = arrange()
    await createClientSecret('web', parts)
    const [old] = await good()
    await rotate(0)
    expect(memory.writes).toBe(2)
    expect(await good()).toHaveLength(1)
    expect(await good()).not.toContain(old)
  })

  it('of none makes one', async () => {
    const { rotate, good } = arrange()
    expect(await rotate()).toEqual({ outcome: 'made' })
    expect(await good()).toHaveLength(1)
  })

  it.each([
    ['no document', '{'],
    ['the document of another client', '{"client-id":"wiki","client-secret":"s","schema":"oidc/v1"}'],
  ])('never replaces %s', async (_what, text) => {
    const { secrets, rotate } = arrange()
    await secrets.put(PATH, utf8(text))
    expect(await rotate(0, true)).toEqual({ outcome: 'unreadable', problem: expect.any(String) })
    expect(fromUtf8((await secrets.get(PATH)).value)).toBe(text)
  })
})

describe('a second rotation', () => {
  it('while the secret before is good changes nothing, unless it is forced', async () => {
    const { parts, rotate, good, pass } = arrange()
    await createClientSecret('web', parts)
    const rotatedAt = parts.clock.now()
    await rotate(HOUR)
    const before = await good()
    pass(HOUR - 1)
    expect(await rotate()).toEqual({ outcome: 'overlapping', rotatedAt, previousUntil: rotatedAt + HOUR })
    expect(await good()).toEqual(before)
    expect(await rotate(DAY, true)).toMatchObject({ outcome: 'rotated' })
    expect((await good())[1]).toBe(before[0])
  })

  it('is free once it is not, and after a rotation without an overlap', async () => {
    const { parts, rotate, pass } = arrange()
    await createClientSecret('web', parts)
    await rotate(HOUR)
    pass(HOUR)
    expect(await rotate(0)).toMatchObject({ outcome: 'rotated' })
    expect(await rotate()).toMatchObject({ outcome: 'rotated' })
  })

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'at the same time, seed %i: one lands, and its predecessor stays good',
    async (seed) => {
      const { parts, memory, clock, good } = arrange()
      await createClientSecret('web', parts)
      const [old] = await good()
      const scheduler = seededScheduler(seed)
      const racers = [1, 2, 3].map(() => memorySecrets({ clock, memory, scheduler }))
      const rotations = await Promise.all(
        racers.map((secrets) => rotateClientSecret('web', { overlap: DAY, force: false }, { ...parts, secrets })),
      )
      expect(rotations.filter(({ outcome }) => outcome === 'rotated')).toHaveLength(1)
      expect((await good())[1]).toBe(old)
    },
  )
})

describe('a rotation in an outage', () => {
  it('whose answer is lost is known to have landed', async () => {
    const { parts, secrets, rotate, good } = arrange()
    await createClientSecret('web', parts)
    const [old] = await good()
    const lossy: Secrets = {
      ...secrets,
      async putIfVersion(...given) {
        await secrets.putIfVersion(...given)
        throw new PortError('Unavailable', 'the answer got lost')
      },
    }
    expect(await rotate(HOUR, false, lossy)).toMatchObject({ outcome: 'rotated' })
    expect((await good())[1]).toBe(old)
  })

  it('that never reached the store leaves all as it was', async () => {
    const { parts, secrets, rotate, good } = arrange()
    await createClientSecret('web', parts)
    const before = await good()
    const away: Secrets = { ...secrets, putIfVersion: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expect(rotate(HOUR, false, away)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await good()).toEqual(before)
  })
})
