import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { personId } from '../ports/keys.ts'
import { jsonLog } from '../telemetry/log.ts'
import { findLegacySession } from './legacy-session.ts'
import { createSession, findSession, type Session } from './session.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 12) }
const ada = personId('ada@acme.example')

function table() {
  const lines: string[] = []
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  return { state, lines, log: jsonLog((line) => lines.push(line), clock) }
}

describe('a session of the Go service', () => {
  const SID = '4b2c0d6e-0000-4000-8000-000000000001'
  const whole = {
    id: SID,
    identity: 'Ada@acme.example',
    client_id: 'demo',
    how: 'code',
    method: '',
    scopes: ['openid', 'offline_access'],
    resource: '',
    sso: '',
    auth_time: '2026-11-30T11:00:00.123456789Z',
    issued_at: '2026-11-30T12:00:01.5+01:00',
    expires_at: '2026-11-30T23:00:00.999999999Z',
    last_refreshed: '0001-01-01T00:00:00Z',
    involved: true,
    indexed_until: '2026-12-01T11:00:00Z',
  }

  async function read(record: unknown): Promise<{ found: Session | null; lines: string[] }> {
    const { state, log, lines } = table()
    await state.put(`issuer:session:${SID}`, utf8(typeof record === 'string' ? record : JSON.stringify(record)), 600)
    return { found: (await findLegacySession(state, SID, log))?.value ?? null, lines }
  }

  it('is read: fractions dropped, offsets counted, what is empty left out, the person in lower case', async () => {
    const { found } = await read(whole)
    expect(found).toMatchObject({
      id: SID,
      identity: ada,
      client_id: 'demo',
      how: 'code',
      scopes: ['openid', 'offline_access'],
      auth_time: Date.UTC(2026, 10, 30, 11) / 1000,
      issued_at: Date.UTC(2026, 10, 30, 11, 0, 1) / 1000,
      expires_at: Date.UTC(2026, 10, 30, 23) / 1000,
    })
    expect([found?.method, found?.resource, found?.sso]).toEqual([undefined, undefined, undefined])
  })

  it.each<[string, object, Partial<Session>]>([
    ['null scopes', { scopes: null }, { scopes: [] }],
    ['no scopes', { scopes: undefined }, { scopes: [] }],
    ['the zero time for auth_time', { auth_time: '0001-01-01T00:00:00Z' }, { auth_time: Date.UTC(2026, 10, 30, 11, 0, 1) / 1000 }],
    ['no auth_time', { auth_time: undefined }, { auth_time: Date.UTC(2026, 10, 30, 11, 0, 1) / 1000 }],
    ['a device', { how: 'device' }, { how: 'device' }],
    ['an empty how', { how: '' }, { how: 'code' }],
    [
      'a method, a resource and a sign-in',
      { method: 'google', resource: 'https://a', sso: 'x' },
      { method: 'google', resource: 'https://a', sso: 'x' },
    ],
    ['no id', { id: undefined }, { id: SID }],
    ['the id of another', { id: 'another' }, { id: SID }],
  ])('with %s is read all the same', async (_what, changes, expected) => {
    expect((await read({ ...whole, ...changes })).found).toMatchObject(expected)
  })

  it.each<[string, unknown]>([
    ['nobody', { ...whole, identity: '' }],
    ['no client', { ...whole, client_id: undefined }],
    ['a time that is none', { ...whole, issued_at: 'yesterday' }],
    ['scopes that are no list', { ...whole, scopes: 'openid' }],
    ['half of its JSON', JSON.stringify(whole).slice(0, 80)],
    ['nothing', ''],
  ])('of %s is absent, and reported without what it holds', async (_what, record) => {
    const { found, lines } = await read(record)
    expect(found).toBeNull()
    expect(lines).toHaveLength(1)
    expect(lines.join()).toContain('record.unreadable')
    expect(lines.join()).not.toMatch(/ada@|demo/i)
  })

  it('can be written in our form', async () => {
    const { state, log } = table()
    const { found } = await read(whole)
    if (found === null) throw new Error('not read')
    await createSession(state, { ...found, last_refreshed: 1_796_040_000 }, 600)
    const written = await findSession(state, ada, SID, log)
    expect(written?.value).toMatchObject({ id: SID, identity: ada, scopes: ['openid', 'offline_access'], last_refreshed: 1_796_040_000 })
  })
})
