import { describe, expect, it } from 'vitest'
import { watchByPolling } from './polling-watch.ts'
import type { Change, Rev } from './state.ts'

type Listing = Record<string, string> | Error

/** Watches what each poll lists in turn; the last one ends the watch. */
async function changesOver(...listings: Listing[]): Promise<Change[]> {
  const stop = new AbortController()
  const snapshot = async () => {
    const listing = listings.shift() ?? {}
    if (listings.length === 0) stop.abort()
    if (listing instanceof Error) throw listing
    return new Map(Object.entries(listing) as [string, Rev][])
  }
  const changes: Change[] = []
  // The signal ends the watch before the last listing's changes are told, so one more listing follows those that count.
  for await (const change of watchByPolling({ signal: stop.signal, interval: 1, snapshot })) changes.push(change)
  return changes
}

const down = new Error('the engine is down')

describe('a watch by polling', () => {
  it('tells what is new, what moved and what is gone, and nothing of the first listing', async () => {
    const changes = await changesOver({ a: '1', b: '2', d: '4' }, { d: '5', c: '3', b: '2' }, {})
    expect(changes).toEqual([
      { type: 'put', key: 'd', rev: '5' },
      { type: 'put', key: 'c', rev: '3' },
      { type: 'delete', key: 'a', rev: '1' },
    ])
  })

  it('tells a key once that was made, deleted and made again between two polls', async () => {
    expect(await changesOver({ a: '1' }, { a: '3' }, {})).toEqual([{ type: 'put', key: 'a', rev: '3' }])
  })

  it('outlives two failed polls in a row, any number of times, and misses nothing', async () => {
    expect(await changesOver({}, down, down, { a: '1' }, down, down, { a: '2' }, {})).toEqual([
      { type: 'put', key: 'a', rev: '1' },
      { type: 'put', key: 'a', rev: '2' },
    ])
  })

  it('ends with Unavailable and its cause after three', async () => {
    await expect(changesOver({}, down, down, down, {})).rejects.toMatchObject({ code: 'Unavailable', cause: down })
  })

  it('ends with the first listing when that fails', async () => {
    await expect(changesOver(down, {})).rejects.toMatchObject({ code: 'Unavailable', cause: down })
  })

  it('lists first when it is called, not when it is read', async () => {
    let listings = 0
    const snapshot = async () => {
      listings += 1
      return new Map<string, Rev>()
    }
    watchByPolling({ signal: new AbortController().signal, interval: 1, snapshot })
    expect(listings).toBe(1)
    watchByPolling({ signal: AbortSignal.abort(), interval: 1, snapshot })
    expect(listings).toBe(1)
  })

  it('ends at once when its signal does, in the middle of a wait', async () => {
    const stop = new AbortController()
    const snapshot = async () => new Map<string, Rev>()
    const watching = watchByPolling({ signal: stop.signal, interval: 1_000_000, snapshot })[Symbol.asyncIterator]().next()
    await new Promise((resolve) => setTimeout(resolve, 5))
    stop.abort()
    expect(await watching).toEqual({ done: true, value: undefined })
  })
})
