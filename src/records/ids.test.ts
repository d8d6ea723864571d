import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../crypto/digest.ts'
import { personId } from '../ports/keys.ts'
import { shardOfSegment } from '../ports/layout5.ts'
import type { Random } from '../ports/platform.ts'
import { CODE, drawId, drawIdNear, drawToken, drawTokenNear, type Place, placeOf, REFRESH_TOKEN } from './ids.ts'

const ID = /^[A-Za-z0-9_-]{22}$/
const places = Array.from({ length: 16 }, (_, place) => place as Place)

/** Random bytes, and how many were asked for at a time. */
function counted(bytes: (length: number) => Uint8Array<ArrayBuffer> = (length) => crypto.getRandomValues(new Uint8Array(length))) {
  const asked: number[] = []
  const random: Random = {
    bytes(length) {
      asked.push(length)
      return bytes(length)
    },
  }
  return { random, asked }
}

/** The same bytes however often it is asked: a draw that missed once misses for ever. */
const stuck = (length: number) => new Uint8Array(length)
const STUCK_ID = 'A'.repeat(22)
const elsewhere = places.find((place) => place !== shardOfSegment(STUCK_ID)) ?? (0 as Place)

describe('an id', () => {
  it('is 16 random bytes in base64url, so without dot and colon', () => {
    const { random, asked } = counted()
    expect(drawId(random)).toMatch(ID)
    expect(asked).toEqual([16])
  })
})

describe('the place of a person', () => {
  it('is the shard their sessions lie in: that of their name as it stands in keys', () => {
    expect(placeOf(personId('Ada@Acme.example'))).toBe(shardOfSegment('ada~40acme~2Eexample'))
  })
})

describe('an id near a place', () => {
  it.each(places)('falls into shard %i, but for one of a hundred or two', (place) => {
    const { random } = counted()
    const drawn = Array.from({ length: 200 }, () => drawIdNear(random, place))
    for (const id of drawn) expect(id).toMatch(ID)
    expect(new Set(drawn).size).toBe(200)
    // (15/16)^64 is 1.6 of 100: 20 misses of 200 come once in a billion runs
    expect(drawn.filter((id) => shardOfSegment(id) !== place).length).toBeLessThan(20)
  })

  it('is drawn sixteen candidates at a time, and the first that fits is taken', () => {
    const { random, asked } = counted(stuck)
    expect(drawIdNear(random, shardOfSegment(STUCK_ID) as Place)).toBe(STUCK_ID)
    expect(asked).toEqual([256])
  })

  it('is drawn four times at most, and then taken wherever it falls: nothing that is read rests on it', () => {
    const { random, asked } = counted(stuck)
    expect(drawIdNear(random, elsewhere)).toBe(STUCK_ID)
    expect(asked).toEqual([256, 256, 256, 256, 16])
  })
})

describe('a token', () => {
  it.each([REFRESH_TOKEN, CODE])('is %s and 32 random bytes, kept under the hash of the whole', async (prefix) => {
    const { random, asked } = counted()
    const { token, hash } = await drawToken(random, prefix)
    expect(token).toMatch(new RegExp(`^${prefix}[A-Za-z0-9_-]{43}$`))
    expect(hash).toBe(await sha256Hex(token))
    expect(asked).toEqual([32])
  })
})

describe('a token near a place', () => {
  it.each(places)('has a hash that falls into shard %i, but for one of a hundred or two', async (place) => {
    const { random } = counted()
    const drawn = await Promise.all(Array.from({ length: 50 }, () => drawTokenNear(random, REFRESH_TOKEN, place)))
    for (const { token, hash } of drawn) {
      expect(token).toMatch(/^slr_[A-Za-z0-9_-]{43}$/)
      expect(hash).toBe(await sha256Hex(token))
    }
    expect(new Set(drawn.map(({ token }) => token)).size).toBe(50)
    expect(drawn.filter(({ hash }) => shardOfSegment(hash) !== place).length).toBeLessThan(10)
  })

  it('is drawn sixteen candidates at a time, four times at most, and then taken wherever it falls', async () => {
    const { random, asked } = counted(stuck)
    const { token, hash } = await drawToken({ bytes: stuck }, REFRESH_TOKEN)
    const away = places.find((place) => place !== shardOfSegment(hash)) ?? (0 as Place)
    expect(await drawTokenNear(random, REFRESH_TOKEN, away)).toEqual({ token, hash })
    expect(asked).toEqual([512, 512, 512, 512, 32])
  })
})
