import { expect } from 'vitest'
import { PortError } from '../../../src/ports/error.ts'
import type { Change, State } from '../../../src/ports/state.ts'
import { bytes } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

/** ms: what a change may take to be seen (seed: adr-0027-state-port names no bound; the suite needs one). */
const PATIENCE = 10_000

export const watchCases: readonly StateCase[] = [
  {
    id: 'watch/put-delete',
    rule: 'a put and a deletion under the prefix are seen with their revisions; nothing beside it is',
    async holds({ open }) {
      await using watched = watch(open(), 'tok.w.')
      await open().put('tok.x.other', bytes('x'), MINUTE)
      const rev = await putUntilSeen(open(), watched, 'tok.w.a')
      await open().delete('tok.w.a')
      await watched.until(({ type, key }) => type === 'delete' && key === 'tok.w.a')
      expect(watched.changes.at(-1)).toEqual({ type: 'delete', key: 'tok.w.a', rev })
      expect(watched.changes.filter(({ key }) => key !== 'tok.w.a')).toEqual([])
    },
  },
  {
    id: 'watch/from-now-on',
    rule: 'what stood before the call is no change',
    async holds({ open }) {
      await open().put('tok.w.before', bytes('x'), MINUTE)
      await using watched = watch(open(), 'tok.w.')
      await putUntilSeen(open(), watched, 'tok.w.after')
      expect(watched.changes.filter(({ key }) => key === 'tok.w.before')).toEqual([])
    },
  },
  {
    id: 'watch/identical-rewrite',
    rule: 'the same bytes put again are a change',
    async holds({ open }) {
      await using watched = watch(open(), 'tok.w.')
      await putUntilSeen(open(), watched, 'tok.w.a')
      const again = await open().put('tok.w.a', bytes('watched'), MINUTE)
      await watched.until(({ rev }) => rev === again)
    },
  },
  {
    id: 'watch/expiry',
    rule: 'a record that runs out is seen as deleted',
    async holds({ open, clock }) {
      await using watched = watch(open(), 'tok.w.')
      const rev = await putUntilSeen(open(), watched, 'tok.w.a')
      clock.advance(MINUTE * 1_000)
      await watched.until(({ type }) => type === 'delete')
      expect(watched.changes.at(-1)).toEqual({ type: 'delete', key: 'tok.w.a', rev })
    },
  },
  {
    id: 'watch/recover-by-listing',
    rule: 'a watch ends when its signal does, and a listing shows what was missed',
    async holds({ open }) {
      const watched = watch(open(), 'tok.w.')
      await putUntilSeen(open(), watched, 'tok.w.a')
      await watched.end()
      const seen = watched.changes.length
      await open().put('tok.w.b', bytes('missed'), MINUTE)
      expect((await open().list('tok.w.')).entries.map((entry) => entry.key)).toEqual(['tok.w.a', 'tok.w.b'])
      expect(watched.changes).toHaveLength(seen)
    },
  },
  {
    id: 'watch/ended-before',
    rule: 'a watch whose signal has ended asks nothing and ends at once',
    async holds({ open, requests }) {
      for await (const change of open().watch('tok.w.', { signal: AbortSignal.abort() })) expect(change).toBeUndefined()
      expect(requests()).toBe(0)
    },
  },
  {
    id: 'watch/foreign',
    rule: "a watch of another module's prefix sees nothing and asks nothing",
    async holds({ open, requests }) {
      const watched = watch(open(), 'gh.org.')
      await open('github').put('gh.org.acme', bytes('x'), 'permanent')
      const before = requests()
      await new Promise((resolve) => setTimeout(resolve, 50)) // several polls
      await watched.end()
      expect(watched.changes).toEqual([])
      expect(requests()).toBe(before)
    },
  },
]

interface Watched extends AsyncDisposable {
  changes: Change[]
  until(matches: (change: Change) => boolean): Promise<void>
  end(): Promise<void>
}

function watch(state: State, prefix: string): Watched {
  const stop = new AbortController()
  const changes: Change[] = []
  const reading = (async () => {
    for await (const change of state.watch(prefix, { signal: stop.signal })) changes.push(change)
  })()
  const end = async () => {
    stop.abort()
    await reading
  }
  return {
    changes,
    until: (matches) => eventually(() => changes.some(matches)),
    end,
    [Symbol.asyncDispose]: end,
  }
}

/** Puts until the watch has seen it: the first of them may come before the watch's first listing. The revision of the last. */
async function putUntilSeen(state: State, watched: Watched, key: string) {
  let rev = await state.put(key, bytes('watched'), MINUTE)
  await eventually(async () => {
    if (watched.changes.some((change) => change.rev === rev)) return true
    rev = await state.put(key, bytes('watched'), MINUTE)
    await new Promise((resolve) => setTimeout(resolve, 50)) // several polls
    return watched.changes.some((change) => change.rev === rev)
  })
  return rev
}

async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE
  while (!(await holds())) {
    if (Date.now() > deadline) throw new PortError('Unavailable', `nothing was seen in ${PATIENCE} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
