import { expect } from 'vitest'
import type { Rev } from '../../../src/ports/state.ts'
import { bytes, race, text } from '../arrange.ts'
import { MINUTE, RACERS, type StateCase } from './subject.ts'

/** Each of them tries until it is through, so their number counts twice. */
const COUNTERS = RACERS / 2

export const compareAndSwapCases: readonly StateCase[] = [
  {
    id: 'cas/update-race',
    rule: `of ${RACERS} updates over one revision exactly one lands, and the others are Conflict`,
    race: true,
    async holds({ open }) {
      const rev = await open().create('tok.race', bytes('start'), MINUTE)
      const { won, lost } = await race(RACERS, (n) => open().update('tok.race', bytes(`racer ${n}`), MINUTE, rev))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Conflict'))
      expect(await open().get('tok.race')).toEqual({ key: 'tok.race', value: bytes(`racer ${won[0]?.n}`), rev: won[0]?.value })
    },
  },
  {
    id: 'cas/create-race',
    rule: `of ${RACERS} creations exactly one lands, and the others are Exists`,
    race: true,
    async holds({ open }) {
      const { won, lost } = await race(RACERS, (n) => open().create('tok.race', bytes(`racer ${n}`), MINUTE))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Exists'))
      expect(await open().get('tok.race')).toEqual({ key: 'tok.race', value: bytes(`racer ${won[0]?.n}`), rev: won[0]?.value })
    },
  },
  {
    id: 'cas/delete-if-revision',
    rule: 'a conditional deletion of a stale revision is Conflict and changes nothing; of the current one it deletes, once',
    async holds({ open }) {
      const state = open()
      const stale = await state.create('tok.a', bytes('first'), MINUTE)
      const current = await state.put('tok.a', bytes('second'), MINUTE)
      await expect(state.deleteIfRevision('tok.a', stale)).rejects.toMatchObject({ code: 'Conflict' })
      expect(await state.get('tok.a')).toMatchObject({ value: bytes('second'), rev: current })

      await state.deleteIfRevision('tok.a', current)
      expect(await state.get('tok.a')).toBeNull()
      await expect(state.deleteIfRevision('tok.a', current)).rejects.toMatchObject({ code: 'NotFound' })
      await state.delete('tok.a')
      await state.delete('tok.never')
    },
  },
  {
    id: 'cas/delete-if-revision-race',
    rule: `of ${RACERS} conditional deletions exactly one deletes, and the others are NotFound`,
    race: true,
    async holds({ open }) {
      const rev = await open().create('tok.race', bytes('once'), MINUTE)
      const { won, lost } = await race(RACERS, () => open().deleteIfRevision('tok.race', rev))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('NotFound'))
      expect(await open().get('tok.race')).toBeNull()
    },
  },
  {
    id: 'cas/mixed-race',
    rule: 'of updates and conditional deletions over one revision exactly one lands; none is told Exists',
    race: true,
    async holds({ open }) {
      const rev = await open().create('tok.race', bytes('start'), MINUTE)
      const isDeletion = (n: number) => n % 2 === 0
      const { won, lost } = await race(RACERS, async (n) => {
        if (isDeletion(n)) await open().deleteIfRevision('tok.race', rev)
        else await open().update('tok.race', bytes(`racer ${n}`), MINUTE, rev)
      })
      expect(won).toHaveLength(1)
      const [winner = -1] = won.map(({ n }) => n)
      const left = await open().get('tok.race')
      expect(left === null ? null : text(left.value)).toBe(isDeletion(winner) ? null : `racer ${winner}`)
      expect(lost).toEqual(Array(RACERS - 1).fill(isDeletion(winner) ? 'NotFound' : 'Conflict'))
    },
  },
  {
    id: 'cas/counter-race',
    rule: `${COUNTERS} writers that read, add one and write over what they read lose no addition`,
    race: true,
    async holds({ open }) {
      await open().create('tok.race', bytes('0'), MINUTE)
      const increment = async () => {
        const state = open()
        for (;;) {
          const read = await state.get('tok.race')
          if (read === null) throw new Error('the counter is gone')
          const written = await state.update('tok.race', bytes(String(Number(text(read.value)) + 1)), MINUTE, read.rev).catch((error) => {
            if (error.code !== 'Conflict') throw error
            return null
          })
          if (written !== null) return
        }
      }
      await Promise.all(Array.from({ length: COUNTERS }, increment))
      expect(text((await open().get('tok.race'))?.value)).toBe(String(COUNTERS))
    },
  },
  {
    id: 'cas/update-absent',
    rule: 'an update of what was never written is NotFound and writes nothing',
    async holds({ open }) {
      await expect(open().update('tok.a', bytes('x'), MINUTE, '7' as Rev)).rejects.toMatchObject({ code: 'NotFound' })
      expect(await open().get('tok.a')).toBeNull()
    },
  },
  {
    id: 'cas/aba',
    rule: 'a record made again with the same bytes has another revision, and the old one is Conflict',
    async holds({ open }) {
      const state = open()
      const old = await state.create('tok.a', bytes('same'), MINUTE)
      await state.delete('tok.a')
      const made = await state.create('tok.a', bytes('same'), MINUTE)
      expect(made).not.toBe(old)
      await expect(state.update('tok.a', bytes('x'), MINUTE, old)).rejects.toMatchObject({ code: 'Conflict' })
      await expect(state.deleteIfRevision('tok.a', old)).rejects.toMatchObject({ code: 'Conflict' })
      expect(await state.get('tok.a')).toMatchObject({ value: bytes('same'), rev: made })
    },
  },
  {
    id: 'cas/malformed-revision',
    rule: 'a revision that is none is Conflict over a live record and NotFound over none',
    async holds({ open }) {
      const state = open()
      const rev = await state.create('tok.live', bytes('x'), MINUTE)
      const malformed = ['', '0', '-1', '1.5', 'abc', `0${rev}`, ` ${rev}`, `${rev}.0`, '18446744073709551616', "' OR 1=1 --"] as Rev[]
      for (const none of malformed) {
        await expect(state.update('tok.live', bytes('y'), MINUTE, none), `update ${none}`).rejects.toMatchObject({ code: 'Conflict' })
        await expect(state.deleteIfRevision('tok.live', none), `delete ${none}`).rejects.toMatchObject({ code: 'Conflict' })
        await expect(state.update('tok.none', bytes('y'), MINUTE, none), `update ${none}`).rejects.toMatchObject({ code: 'NotFound' })
        await expect(state.deleteIfRevision('tok.none', none), `delete ${none}`).rejects.toMatchObject({ code: 'NotFound' })
      }
      expect(await state.get('tok.live')).toMatchObject({ value: bytes('x'), rev })
    },
  },
]
