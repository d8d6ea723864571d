import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../crypto/digest.ts'
import { personId } from '../ports/keys.ts'
import { shardOfSegment } from '../ports/layout5.ts'
import { drawIdNear, drawTokenNear, type Place, placeOf, REFRESH_TOKEN } from './ids.ts'

/** Counts what it is asked for. */
function counting() {
  const source = {
    drawn: 0,
    bytes(length: number) {
      source.drawn += length
      return crypto.getRandomValues(new Uint8Array(length))
    },
  }
  return source
}

/** One in each of the sixteen shards, in turn. */
function places(count: number): Place[] {
  const people = new Map<number, Place>()
  for (let at = 0; people.size < 16; at++) {
    const place = placeOf(personId(`person-${at}@acme.example`))
    people.set(place, place)
  }
  return Array.from({ length: count }, (_, at) => people.get(at % 16) ?? placeOf(personId('')))
}

describe('ids near a place', () => {
  test('an id falls into the shard asked for, but for the few that no draw finds', () => {
    const random = counting()
    const near = places(320).filter((place) => shardOfSegment(drawIdNear(random, place)) === place)
    expect(near.length).toBeGreaterThan(280)
  })

  test('a token is known by its hash, which falls into the shard asked for, but for the few', async () => {
    const random = counting()
    const drawn = []
    for (const place of places(320)) drawn.push({ place, ...(await drawTokenNear(random, REFRESH_TOKEN, place)) })
    expect(drawn.filter(({ hash, place }) => shardOfSegment(hash) === place).length).toBeGreaterThan(280)
    for (const { token, hash } of drawn.slice(0, 20)) expect(hash).toBe(await sha256Hex(token))
  })

  test('none is handed out twice, not to those who ask at once either', async () => {
    const random = counting()
    const ids = places(1_000).map((place) => drawIdNear(random, place))
    const tokens = await Promise.all(places(1_000).map(async (place) => (await drawTokenNear(random, REFRESH_TOKEN, place)).token))
    expect(new Set([...ids, ...tokens]).size).toBe(2_000)
  })

  test('what fell into another shard serves there: an id takes three candidates on average, not sixteen', () => {
    const random = counting()
    for (const place of places(1_000)) drawIdNear(random, place)
    expect(random.drawn / 16 / 1_000).toBeLessThan(3)
  })

  test('what one source of randomness gave is never given out for another', () => {
    const [one, other] = [counting(), counting()]
    const [place] = places(1)
    if (place === undefined) throw new Error('there is a place')
    for (let at = 0; at < 20; at++) drawIdNear(one, place)
    drawIdNear(other, place)
    expect(other.drawn).toBeGreaterThan(0)
  })
})
