import { describe, expect, it } from 'vitest'
import { emptyRingKid, slotKid } from './slot.ts'

const ring = { instance: 'acme', alg: 'ES256', rotateEvery: 86_400 }
const NOON = 1_799_971_200 + 43_200

describe('the kid of a slot', () => {
  it('is the start of the labelled digest of instance, algorithm, period and counter', async () => {
    expect(await slotKid({ instance: 'acme', alg: 'ES256', period: 0, counter: 0 })).toBe('ciWm68t3pOBYC96pdp3nnq')
    expect(await slotKid({ instance: 'acme', alg: 'ES256', period: 1_799_971_200, counter: 1 })).toBe('jxiNnaqowx3_E4-1h_F-Y7')
  })

  it('is the same at any time for a ring that never had a key', async () => {
    expect(await emptyRingKid(ring, new Set(), 1)).toBe(await emptyRingKid(ring, new Set(), NOON))
  })

  it('is of the running period for a ring whose keys were all retired', async () => {
    const retired = new Set(['a-kid-of-another-making'])
    expect(await emptyRingKid(ring, retired, NOON)).toBe(await slotKid({ ...ring, period: 1_799_971_200, counter: 0 }))
  })

  it('is never one that was retired', async () => {
    const retired = new Set([await slotKid({ ...ring, period: 1_799_971_200, counter: 0 })])
    expect(await emptyRingKid(ring, retired, NOON)).toBe(await slotKid({ ...ring, period: 1_799_971_200, counter: 1 }))
  })
})
