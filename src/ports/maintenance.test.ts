import { describe, expect, it } from 'vitest'
import { memoryIndex } from '../adapters/memory/index-set.ts'
import { memorySecrets } from '../adapters/memory/secrets.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from './error.ts'
import { maintainedIndex, maintainedSecrets, maintainedState, maintenanceGate } from './maintenance.ts'
import type { Rev, State } from './state.ts'

const VALUE = utf8('1')

/** A module's State behind a gate, on a table whose flag an operator sets; `reads` counts the flag's. */
function arrange() {
  let now = Date.UTC(2026, 11, 1)
  const clock = { now: () => now }
  const store = createMemoryStore()
  const shared = { store, clock, module: 'oidc' as const }
  const plain = memoryState(shared)
  const operator = memoryState({ ...shared, restore: true })
  const seen = { reads: 0, away: false }
  const state: State = {
    ...plain,
    async get(key, options) {
      if (key !== 'rec.maintenance') return plain.get(key, options)
      seen.reads++
      if (seen.away) throw new PortError('Unavailable', 'away')
      return plain.get(key)
    },
  }
  const gate = maintenanceGate(state, 'oidc', clock)
  const secrets = memorySecrets({ clock })
  return {
    seen,
    gate,
    secrets,
    plain,
    state: maintainedState(state, gate),
    index: maintainedIndex(memoryIndex(shared), gate),
    maintainedSecrets: maintainedSecrets(secrets, gate),
    set: () => operator.put('rec.maintenance', utf8('not even JSON'), 'permanent'),
    lift: () => operator.delete('rec.maintenance'),
    pass: (seconds: number) => {
      now += seconds * 1_000
    },
  }
}

const refused = expect.objectContaining({ code: 'Unavailable', retryAfter: 30 })

describe('while the flag stands, whatever it holds', () => {
  it('no write of the module is made, and its reads go on', async () => {
    const { state, index, maintainedSecrets: kept, secrets, plain, set } = arrange()
    const rev = await plain.put('tok.before', VALUE, 60)
    await set()
    const writes = [
      () => state.put('tok.a', VALUE, 60),
      () => state.create('tok.a', VALUE, 60),
      () => state.update('tok.before', VALUE, 60, rev),
      () => state.delete('tok.before'),
      () => state.deleteIfRevision('tok.before', rev),
      () => index.add('issuer:sso-of:ada', 'one', 60),
      () => index.remove('issuer:sso-of:ada', 'one'),
      () => kept.put('internal/oidc/clients/a', VALUE),
      () => kept.putIfVersion('internal/oidc/clients/a', VALUE, null),
      () => kept.delete('internal/oidc/clients/a'),
    ]
    for (const write of writes) await expect(write()).rejects.toEqual(refused)
    expect((await state.get('tok.before'))?.rev).toBe(rev)
    expect((await state.list('tok.')).entries).toHaveLength(1)
    expect(await index.members('issuer:sso-of:ada')).toEqual([])
    expect(await secrets.list('')).toEqual([])
  })

  it('a write is refused at most 10 s after it was set, and made at most 10 s after it was lifted', async () => {
    const { state, set, lift, pass } = arrange()
    await state.put('tok.a', VALUE, 60)
    await set()
    pass(10)
    await expect(state.put('tok.a', VALUE, 60)).rejects.toEqual(refused)
    await lift()
    pass(10)
    await state.put('tok.a', VALUE, 60)
  })

  it('a clock set back makes what was read old', async () => {
    const { state, set, pass } = arrange()
    await state.put('tok.a', VALUE, 60)
    await set()
    pass(-3_600)
    await expect(state.put('tok.a', VALUE, 60)).rejects.toEqual(refused)
  })
})

describe('a flag that can not be read', () => {
  it('means no writes, for the reason it can not be read, and keeps no read', async () => {
    const { state, seen } = arrange()
    seen.away = true
    await expect(state.put('tok.a', VALUE, 60)).rejects.toThrow('away')
    expect(await state.get('tok.a')).toBeNull()
    seen.away = false
    await state.put('tok.a', VALUE, 60)
  })
})

describe('what it costs', () => {
  it('is one read beside the first read of ten seconds, and none of its own while there is traffic', async () => {
    const { state, seen, pass } = arrange()
    await state.get('tok.a')
    expect(seen.reads).toBe(1)
    for (let second = 0; second < 4; second++) {
      await state.get('tok.a')
      await state.put('tok.a', VALUE, 60)
      pass(1)
    }
    expect(seen.reads).toBe(1)
    pass(1)
    await Promise.all(Array.from({ length: 20 }, () => state.get('tok.a')))
    expect(seen.reads).toBe(2)
  })

  it('a write is sent in the turn it was made, so that writes made together go together', async () => {
    const { gate, plain } = arrange()
    await gate.isSet()
    let sent = false
    const state = maintainedState(
      {
        ...plain,
        async put() {
          sent = true
          return 'r' as Rev
        },
      },
      gate,
    )
    const writing = state.put('tok.a', VALUE, 60)
    expect(sent).toBe(true)
    await writing
  })
})
