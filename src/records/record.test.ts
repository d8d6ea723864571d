import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import type { Rev } from '../ports/state.ts'
import { jsonLog, noLog } from '../telemetry/log.ts'
import { authorizationCode, spentCode } from './authorization-code.ts'
import { authorizationRequest } from './authorization-request.ts'
import { deviceRequest } from './device-request.ts'
import { ending } from './ending.ts'
import { type RecordType, readRecord, writeRecord } from './record.ts'
import { session } from './session.ts'
import { signIn } from './sign-in.ts'
import { token } from './token.ts'

function entryOf(value: string | Uint8Array<ArrayBuffer>) {
  return { key: 'tok.x', value: typeof value === 'string' ? utf8(value) : value, rev: '1' as Rev }
}

function recorded() {
  const lines: string[] = []
  return { lines, log: jsonLog((line) => lines.push(line), { now: () => 0 }) }
}

const AT = '2026-11-30T12:00:00Z'
const SECONDS = Date.parse(AT) / 1000

const TOKEN = {
  id: 'j',
  subject: 'ada@acme.example',
  clientID: 'demo',
  audience: ['demo'],
  scopes: ['openid'],
  claims: { groups: [] },
  expires: AT,
}
const CODE = {
  client_id: 'demo',
  redirect_uri: 'http://localhost/demo',
  identity: 'ada@acme.example',
  groups: [],
  scopes: ['openid'],
  sso: 's',
  method: 'picker',
  acr: 'a',
  auth_time: AT,
  expires_at: AT,
}
const SESSION = {
  id: 's',
  identity: 'ada@acme.example',
  client_id: 'demo',
  how: 'code',
  scopes: ['openid'],
  auth_time: AT,
  issued_at: AT,
  expires_at: AT,
}
const SIGN_IN = {
  id: 's',
  identity: 'ada@acme.example',
  how: 'picker',
  auth_time: AT,
  expires_at: AT,
  cookie_hash: 'h',
}
const REQUEST = {
  id: 'r',
  request: { client_id: 'demo', redirect_uri: 'http://localhost/demo', response_mode: 'query', scopes: ['openid'] },
  authTime: AT,
  browser: 'h',
}
const SPENT = { client_id: 'demo', identity: 'ada@acme.example', jti: 'j', session: 's', token_expires: AT, code_expires: AT }
const DEVICE = { client_id: 'native', scopes: ['openid'], user_code: 'BCDFGHJK', expires_at: AT }
const ENDING = { id: 'e', which: { of: 'client', client: 'demo' }, cause: 'operator', by: 'ada@acme.example', at: AT }

const kinds: [string, RecordType<z.ZodType>, Record<string, unknown>][] = [
  ['an authorization request', authorizationRequest, REQUEST],
  ['an authorization code', authorizationCode, CODE],
  ['the tombstone of a code', spentCode, SPENT],
  ['a session', session, SESSION],
  ['the mark of an ended session', session, { ended: 1_796_000_000_000 }],
  ['a sign-in', signIn, SIGN_IN],
  ['a token', token, TOKEN],
  ['a device that waits', deviceRequest, DEVICE],
  ['an ending', ending, ENDING],
]

describe.each(kinds)('the record of %s', (_name, type, written) => {
  it('is written as it was read, with the fields that this version does not know', () => {
    const text = JSON.stringify({ ...written, of_a_later_version: { a: [1] } })
    const value = readRecord(type, entryOf(text), noLog)
    expect(value).not.toBeNull()
    expect(JSON.parse(fromUtf8(writeRecord(type, value)) ?? '')).toEqual(JSON.parse(text))
  })

  it('without any one of its fields is treated as absent, and reported by the name of the field', () => {
    for (const name of Object.keys(written)) {
      const { [name]: _, ...others } = written
      const { lines, log } = recorded()
      expect(readRecord(type, entryOf(JSON.stringify(others)), log)).toBeNull()
      const [line, ...more] = lines.map((text) => JSON.parse(text))
      expect(more).toEqual([])
      expect(line).toMatchObject({ level: 'warn', event: 'record.unreadable', kind: type.key, reason: expect.any(String) })
    }
  })

  it.each([
    ['nothing', ''],
    ['half a record', JSON.stringify(written).slice(0, -1)],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"x"'],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe])],
  ])('that is %s is treated as absent, and reported', (_what, value) => {
    const { lines, log } = recorded()
    expect(readRecord(type, entryOf(value), log)).toBeNull()
    expect(lines).toHaveLength(1)
  })
})

describe('a record', () => {
  it('that is absent is nothing to report', () => {
    const { lines, log } = recorded()
    expect(readRecord(token, null, log)).toBeNull()
    expect(lines).toEqual([])
  })

  it('has its instants as seconds inside, and as RFC 3339 where it is kept', () => {
    const value = readRecord(token, entryOf(JSON.stringify(TOKEN)), noLog)
    expect(value?.expires).toBe(SECONDS)
    expect(value && fromUtf8(writeRecord(token, value))).toContain(`"expires":"${AT}"`)
  })

  it('of the Go service, whose instants have fractions and offsets, is read', () => {
    const value = readRecord(token, entryOf(JSON.stringify({ ...TOKEN, expires: '2026-11-30T13:00:00.123456789+01:00' })), noLog)
    expect(value?.expires).toBe(SECONDS)
  })

  it('is reported without anything that stands in it', () => {
    const { lines, log } = recorded()
    readRecord(token, entryOf(JSON.stringify({ ...TOKEN, scopes: 'grace@acme.example', expires: 'slr_secret' })), log)
    expect(lines.join()).toContain('scopes expires')
    expect(lines.join()).not.toMatch(/acme|slr_secret/)
  })

  it('that can not be written is a defect, not a record', () => {
    const schema = z.looseObject({ name: z.string() })
    const type: RecordType<typeof schema> = { key: 'x', purpose: '', lifetime: '', schema }
    expect(() => writeRecord(type, { name: 1 } as unknown as { name: string })).toThrow(z.ZodError)
  })
})
