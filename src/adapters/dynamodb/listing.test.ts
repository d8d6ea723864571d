import { describe, expect, it } from 'vitest'
import { clock } from '../../../test/conformance/arrange.ts'
import type { Rev } from '../../ports/state.ts'
import { fakeTables } from './fake-tables.ts'
import { recordItem } from './item.ts'
import { type ListingOptions, listRecords } from './listing.ts'
import { openTable } from './table.ts'

function arrange(...records: [lkey: string, pk: string, sk: string][]) {
  const client = fakeTables()
  const items = client.items('t')
  for (const [lkey, pk, sk] of records)
    items.set(JSON.stringify([pk, sk]), recordItem({ lkey, pk, sk, v: 'eA==', rev: '7' as Rev, expires: null }))
  const list = async (prefix: string, options: Partial<ListingOptions> = {}) => {
    const keys: string[] = []
    for await (const { lkey } of listRecords(openTable(client, 't'), { prefix, clock, ...options })) keys.push(lkey)
    return keys
  }
  return { client, items, list }
}

const tokens = (count: number): [string, string, string][] =>
  Array.from({ length: count }, (_, n) => [`tok.${n + 10}`, 'token', String(n + 10)])

describe('listings', () => {
  it('ask for one more than is taken, and for twice as many each time that was too few', async () => {
    const { client, list } = arrange(...tokens(20))
    await list('tok.', { take: 3 })
    expect(client.calls.map(({ input }) => input.Limit)).toEqual([3, 6, 12, 24, 48, 96, 192])
  })

  it('never ask for over 1,000 at once, and set no limit where all is read', async () => {
    const { client, list } = arrange(...tokens(4))
    await list('tok.', { take: 5_000 })
    await list('tok.')
    await list('keyring.', { take: 2 })
    expect(client.calls.map(({ input }) => input.Limit)).toEqual([1_000, 1_000, undefined, undefined, undefined])
  })

  it('stop asking when enough was taken', async () => {
    const { client } = arrange(...tokens(20))
    for await (const _ of listRecords(openTable(client, 't'), { prefix: 'tok.', clock, take: 2 })) break
    expect(client.calls).toHaveLength(1)
  })

  it('go on after a key without reading what stands before it', async () => {
    const { client, list } = arrange(...tokens(6))
    expect(await list('tok.', { after: 'tok.13' })).toEqual(['tok.14', 'tok.15'])
    expect(client.calls[0]?.input.ExclusiveStartKey).toEqual({ pk: { S: 'token' }, sk: { S: '13' } })
  })

  it('pass over an item that is filed elsewhere than its key says: no get finds it, and a page that ended with it would lose others', async () => {
    const { list } = arrange(['tok.z', 'token', 'a'], ['tok.b', 'token', 'b'], ['tok.c', 'code', 'c'], ['tok.', 'token', 'd'])
    expect(await list('tok.')).toEqual(['tok.b'])
    expect(await list('')).toEqual(['tok.b'])
  })

  it('pass over an item that is no record', async () => {
    const { items, list } = arrange(...tokens(3))
    for (const name of ['lkey', 'v', 'rev']) {
      const { [name]: _, ...broken } = recordItem({ lkey: 'tok.x', pk: 'token', sk: 'x', v: 'eA==', rev: '7' as Rev, expires: null })
      items.set(JSON.stringify(['token', name]), { ...broken, sk: { S: name } })
    }
    expect(await list('tok.')).toEqual(['tok.10', 'tok.11', 'tok.12'])
    expect(await list('')).toEqual(['tok.10', 'tok.11', 'tok.12'])
  })

  it('of a scan hold no more than a few times what is taken, and lose none by it', async () => {
    const { list } = arrange(...tokens(80))
    const all = tokens(80).map(([lkey]) => lkey)
    expect(await list('', { take: 3 })).toEqual(all.slice(0, 3))
    expect(await list('', { take: 3, after: 'tok.50' })).toEqual(['tok.51', 'tok.52', 'tok.53'])
    expect(await list('')).toEqual(all)
  })

  it('of a prefix longer than any sort key ask nothing, for DynamoDB would refuse the condition', async () => {
    const { client, list } = arrange()
    expect(await list(`tok.${'a'.repeat(1_025)}`)).toEqual([])
    expect(client.calls).toEqual([])
  })
})
