import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys, personId } from '../ports/keys.ts'
import { jsonLog } from '../telemetry/log.ts'
import { createLogoutRow, findRow, type LogoutEntry, listRows, updateRow } from './logout-row.ts'

const NOW = Date.UTC(2026, 10, 30, 12) / 1_000
const ada = personId('ada@acme.example')
const KEY = keys.logout(ada, 's1', 'web')

const entry: LogoutEntry = {
  ...{ sid: 's1', subject: 'Ada@acme.example', client_id: 'web' },
  ...{ backchannel_logout_uri: 'https://web.example/out', session_required: true, expires_at: NOW + 600 },
}

function table() {
  const lines: string[] = []
  const clock = { now: () => NOW * 1_000 }
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  return { state, lines, log: jsonLog((line) => lines.push(line), clock) }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('a logout row', () => {
  it('is written with what is known of the client, and the person at its session', async () => {
    const { state } = table()
    await createLogoutRow(state, entry, NOW)
    expect(JSON.parse(fromUtf8((await state.get(KEY))?.value ?? utf8('')) ?? '')).toEqual({
      ...{ sid: 's1', subject: ada, client_id: 'web', attempts: 0, expires_at: '2026-11-30T12:10:00Z' },
      ...{ backchannel_logout_uri: 'https://web.example/out', session_required: true, frontchannel_session_required: false },
    })
    expect(fromUtf8((await state.get(keys.logoutOf('s1')))?.value ?? utf8(''))).toBe(ada)
  })

  it('lives to the absolute limit of its session, its pointer a day longer', async () => {
    const { state } = table()
    await createLogoutRow(state, entry, NOW)
    const ttls: unknown[] = []
    for await (const { key, ttl } of state.export('logout')) ttls.push([key, ttl])
    expect(ttls).toEqual([
      ['logout-of.s1', 600 + 86_400],
      [KEY, 600],
    ])
  })

  it('that cannot be created is told after its pointer is no longer under way', async () => {
    const { state } = table()
    let pointed = false
    const slow: typeof state = {
      ...state,
      async create(key, ...rest) {
        if (key === KEY) throw new PortError('Unavailable', 'down')
        await scheduler.wait(5)
        pointed = true
        return state.create(key, ...rest)
      },
    }
    await expect(createLogoutRow(slow, entry, NOW)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(pointed).toBe(true)
  })

  it('keeps what another version wrote into it', async () => {
    const { state, log } = table()
    const newer = { sid: 's1', subject: ada, client_id: 'web', attempts: 0, expires_at: NOW + 600, colour: 'red' }
    const uris = { backchannel_logout_uri: 'https://web.example/out', session_required: false, frontchannel_session_required: false }
    await state.put(KEY, utf8(JSON.stringify({ ...newer, ...uris, lease: { id: 'l', until: NOW, host: 'h' } })), 600)
    const found = await findRow(state, KEY, NOW, log)
    if (found === null) throw new Error('the row was not read')
    await updateRow(state, found, { ...found.value, attempts: 1 }, NOW)
    expect(await findRow(state, KEY, NOW, log)).toMatchObject({ value: { attempts: 1, colour: 'red', lease: { host: 'h' } } })
  })

  it.each<[string, string, object | string]>([
    ['no JSON', KEY, '{'],
    ['no address', KEY, { backchannel_logout_uri: undefined }],
    ['attempts below none', KEY, { attempts: -1 }],
    ['an ending for no cause', KEY, { due: { ending: 'e1', cause: 'whim', at: NOW } }],
    ['a lease without an end', KEY, { lease: { id: 'l1' } }],
    ['the fields of another client', keys.logout(ada, 's1', 'wiki'), {}],
    ['the fields of another person', keys.logout(personId('bob'), 's1', 'web'), {}],
  ])('with %s is reported, and absent', async (_what, key, change) => {
    const { state, lines, log } = table()
    const sound = {
      ...{ sid: 's1', subject: ada, client_id: 'web', attempts: 0, expires_at: NOW + 600 },
      ...{ backchannel_logout_uri: 'https://web.example/out', session_required: false, frontchannel_session_required: false },
    }
    await state.put(key, utf8(typeof change === 'string' ? change : JSON.stringify({ ...sound, ...change })), 600)
    expect(await findRow(state, key, NOW, log)).toBeNull()
    expect(await all(listRows(state, 'logout.', NOW, log))).toEqual([])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(
      Array(2).fill({ event: 'record.unreadable', kind: 'logout.<person>.<sid>.<client>' }),
    )
    expect(lines.join()).not.toContain('acme')
  })
})
