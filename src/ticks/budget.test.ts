import { describe, expect, it } from 'vitest'
import { clock } from '../../test/conformance/arrange.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { State } from '../ports/state.ts'
import { budgetOf, counted, countedFetch, countedState } from './budget.ts'

const open = () => memoryState({ store: createMemoryStore(), clock, module: 'oidc' })

async function spent(call: (state: State) => Promise<unknown>, state: State = open()): Promise<number> {
  const budget = budgetOf(100)
  await call(countedState(state, budget)).catch(() => {})
  return 100 - budget.left()
}

describe('a counted State', () => {
  it('answers as the one it counts', async () => {
    const state = countedState(open(), budgetOf(100))
    const rev = await state.create('lease.tick:all', utf8('x'), 60)
    expect(await state.get('lease.tick:all')).toMatchObject({ rev, value: utf8('x') })
    expect(await state.list('lease.tick:')).toMatchObject({ entries: [{ rev }] })
    await expect(state.create('lease.tick:all', utf8('y'), 60)).rejects.toMatchObject({ code: 'Exists' })
  })

  it('spends one a call, also when that is refused', async () => {
    expect(await spent((state) => state.get('lease.tick:all'))).toBe(1)
    expect(await spent((state) => state.put('lease.tick:all', utf8('x'), 60))).toBe(1)
    const rev = await open().put('lease.tick:all', utf8('x'), 60)
    expect(await spent((state) => state.deleteIfRevision('lease.tick:all', rev))).toBe(1)
  })

  it('spends two on a call whose outcome is unknown, which adapters send again', async () => {
    const down = { ...open(), create: () => Promise.reject(new PortError('Unavailable', 'no answer')) }
    expect(await spent((state) => state.create('lease.tick:all', utf8('x'), 60), down)).toBe(2)
  })

  it('spends as many on a listing as it reads shards', async () => {
    expect(await spent((state) => state.list('logout-due.'))).toBe(1)
    expect(await spent((state) => state.list('ses.ada~40acme~2Eexample.'))).toBe(1)
    expect(await spent((state) => state.list('ses.'))).toBe(16)
    expect(await spent((state) => state.list(''))).toBe(17)
  })
})

describe('a budget', () => {
  it('goes below zero rather than refuse, and says so', async () => {
    const budget = budgetOf(1)
    const secrets = counted({ get: async () => 'x' }, budget)
    expect([await secrets.get(), await secrets.get()]).toEqual(['x', 'x'])
    expect(budget.left()).toBe(-1)
  })

  it('is spent by calls of the network too', async () => {
    const budget = budgetOf(10)
    const fetch = countedFetch(async () => new Response('ok'), budget)
    await fetch('https://app.example/logout')
    await expect(countedFetch(() => Promise.reject(new TypeError('down')), budget)('https://app.example/')).rejects.toThrow('down')
    expect(budget.left()).toBe(8)
  })
})
