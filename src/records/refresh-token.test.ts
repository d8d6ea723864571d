import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { sha256Hex } from '../crypto/digest.ts'
import { keys, personId } from '../ports/keys.ts'
import { jsonLog } from '../telemetry/log.ts'
import { createRefreshToken, findLegacySuccessor, findRefreshToken, refreshTokenLifetime, spentMarkLifetime } from './refresh-token.ts'
import { writeSpentMark } from './spent-mark.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 12) }
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const TOKEN = 'slr_a token'
const ada = personId('ada@acme.example')

async function findWhere(value: string) {
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  await state.put(keys.refreshToken(await sha256Hex(TOKEN)), utf8(value), 60)
  const lines: string[] = []
  const found = await findRefreshToken(
    state,
    TOKEN,
    jsonLog((line) => lines.push(line), clock),
  )
  return { found, lines }
}

describe('a refresh token', () => {
  it('stands as the person and the session it is of, escaped, with one dot', async () => {
    const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
    const hash = await sha256Hex(TOKEN)
    await createRefreshToken(state, hash, { person: ada, sid: 's1' }, 60)
    const entry = await state.get(`rt.${hash}`)
    expect(new TextDecoder().decode(entry?.value)).toBe('ada~40acme~2Eexample.s1')
  })

  it('that is live names its session', async () => {
    const { found } = await findWhere('ada~40acme~2Eexample.s1')
    expect(found).toMatchObject({ state: 'live', ref: { person: ada, sid: 's1' } })
  })

  it('of the Go service names a session alone', async () => {
    const { found } = await findWhere('4b2c0d6e-0000-4000-8000-000000000001')
    expect(found).toMatchObject({ state: 'live', ref: { person: null, sid: '4b2c0d6e-0000-4000-8000-000000000001' } })
  })

  it('that was spent says by what', async () => {
    const mark = { at: clock.now(), successor: 'slr_next', sid: 's1' }
    const { found } = await findWhere(new TextDecoder().decode(await writeSpentMark(TOKEN, mark, random)))
    expect(found).toMatchObject({ state: 'spent', mark })
  })

  it.each([
    ['the mark of another token', async () => new TextDecoder().decode(await mark('slr_another'))],
    ['half a mark', async () => new TextDecoder().decode(await mark(TOKEN)).slice(0, -1)],
    ['a mark of nothing', () => 'spent:'],
    ['two dots', () => 'ada~40acme~2Eexample.s1.demo'],
    ['a person in upper case', () => 'Ada~40acme~2Eexample.s1'],
    ['a person nobody escaped', () => 'ada@acme.example.s1'],
    ['no session', () => 'ada~40acme~2Eexample.'],
    ['no person', () => '.s1'],
  ])('whose record holds %s is unknown, and the log says so without it', async (_what, value) => {
    const { found, lines } = await findWhere(await value())
    expect(found).toEqual({ state: 'unknown' })
    expect(lines).toHaveLength(1)
    expect(lines.join()).toMatch(/"refresh_token.unreadable_mark"|"record.unreadable"/)
    expect(lines.join()).not.toMatch(/ada[~@]|slr_|\.s1/i)
  })

  it('that nobody drew is unknown, and not worth a line', async () => {
    const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
    const lines: string[] = []
    const log = jsonLog((line) => lines.push(line), clock)
    for (const presented of ['', 'x', 'slr_', 'a'.repeat(10_000)])
      expect(await findRefreshToken(state, presented, log)).toEqual({ state: 'unknown' })
    expect(lines).toEqual([])
  })

  it('that an older version spent has its successor beside it', async () => {
    const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
    await state.put(`rtrot.${await sha256Hex(TOKEN)}`, utf8('the next'), 30)
    expect(await findLegacySuccessor(state, TOKEN)).toBe('the next')
    expect(await findLegacySuccessor(state, 'another')).toBeNull()
  })
})

describe('its lifetime', () => {
  it('is the idle limit, and never past the absolute one', () => {
    expect(refreshTokenLifetime({ now: 1_000, absoluteEnd: 87_400 }, 43_200)).toBe(43_200)
    expect(refreshTokenLifetime({ now: 1_000, absoluteEnd: 1_060 }, 43_200)).toBe(60)
  })

  it('once spent is what the family has left, at least the grace', () => {
    expect(spentMarkLifetime({ now: 1_000, absoluteEnd: 87_400 })).toBe(86_400)
    expect(spentMarkLifetime({ now: 1_000, absoluteEnd: 1_010 })).toBe(30)
    expect(spentMarkLifetime({ now: 1_000, absoluteEnd: 900 })).toBe(30)
  })
})

function mark(spent: string) {
  return writeSpentMark(spent, { at: clock.now(), successor: 'slr_next', sid: 's1' }, random)
}
