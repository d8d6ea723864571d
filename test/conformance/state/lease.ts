import { expect } from 'vitest'
import { bytes, race } from '../arrange.ts'
import { MINUTE, RACERS, type StateCase } from './subject.ts'

const LEASE = 'lease.tick:all'

export const leaseCases: readonly StateCase[] = [
  {
    id: 'lease/held-cannot-be-taken',
    rule: 'a lease that is held is Exists to the next',
    async holds({ open }) {
      await open().create(LEASE, bytes('one'), MINUTE)
      await expect(open().create(LEASE, bytes('two'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })
      expect((await open().get(LEASE))?.value).toEqual(bytes('one'))
    },
  },
  {
    id: 'lease/takeover-by-one',
    rule: `of ${RACERS} takers of a lease that has run out exactly one holds it, and the others are Exists`,
    race: true,
    async holds({ open, clock }) {
      await open().create(LEASE, bytes('gone'), MINUTE)
      clock.advance(MINUTE * 1_000)
      const { won, lost } = await race(RACERS, (n) => open().create(LEASE, bytes(`taker ${n}`), MINUTE))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Exists'))
      expect(await open().get(LEASE)).toMatchObject({ value: bytes(`taker ${won[0]?.n}`), rev: won[0]?.value })
    },
  },
  {
    id: 'lease/renewal-after-takeover',
    rule: 'a holder renews while it holds; after a takeover its renewal and its release are Conflict',
    async holds({ open, clock }) {
      const holder = open()
      const taken = await holder.create(LEASE, bytes('one'), MINUTE)
      clock.advance((MINUTE * 1_000) / 2)
      const renewed = await holder.update(LEASE, bytes('one'), MINUTE, taken)
      clock.advance((MINUTE * 1_000) / 2 + 1_000)
      await expect(open().create(LEASE, bytes('two'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })

      clock.advance(MINUTE * 1_000)
      const held = await open().create(LEASE, bytes('two'), MINUTE)
      await expect(holder.update(LEASE, bytes('one'), MINUTE, renewed)).rejects.toMatchObject({ code: 'Conflict' })
      await expect(holder.deleteIfRevision(LEASE, renewed)).rejects.toMatchObject({ code: 'Conflict' })
      expect(await open().get(LEASE)).toMatchObject({ value: bytes('two'), rev: held })
    },
  },
]
