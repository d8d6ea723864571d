import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { keys } from '../ports/keys.ts'
import { noLog } from '../telemetry/log.ts'
import { createSigningKey, findSigningKey, listRetiredKids, listSigningKeys } from './signing-key.ts'

const AT = 1_800_000_000
const key = 'keyring.ES256:k1'
const jwk = { kty: 'EC', crv: 'P-256', x: 'x'.repeat(43), y: 'y'.repeat(43), kid: 'k1', alg: 'ES256', use: 'sig' }
const record = { id: 'k1', jwk, alg: 'ES256', seenAt: '2027-01-15T08:00:00Z', activateAt: '2027-01-15T08:15:00Z' }

function store() {
  let now = AT * 1_000
  const state = memoryState({ store: createMemoryStore(), clock: { now: () => now }, module: 'oidc' })
  return {
    state,
    write: (at: string, value: unknown) => state.put(at, utf8(JSON.stringify(value)), 60),
    find: () => findSigningKey(state, 'ES256', 'k1', noLog),
    move(seconds: number) {
      now += seconds * 1_000
    },
  }
}

describe('the record of a signing key', () => {
  it('is written with its instants as RFC 3339 and the fields it came with, known or not', async () => {
    const { state, write, find } = store()
    const sealed = { ...record, wrapped: 'AAEC/w==', context: { instance: 'acme', purpose: 'sign' }, generation: 7 }
    await write(key, sealed)
    const found = await find()
    if (found === null) throw new Error('not found')

    await state.delete(key)
    await createSigningKey(state, found.value)

    const entry = await state.get(key)
    expect(JSON.parse(fromUtf8(entry?.value ?? new Uint8Array()) ?? '')).toEqual(sealed)
  })

  it('reads instants as unix seconds too', async () => {
    const { write, find } = store()
    await write(key, { ...record, seenAt: AT, activateAt: '2027-01-15T09:15:00.5+01:00' })
    expect(await find()).toMatchObject({ value: { seenAt: AT, activateAt: AT + 900 } })
  })

  it('lives 30 days', async () => {
    const { state, write, find, move } = store()
    await write(key, record)
    const found = await find()
    if (found === null) throw new Error('not found')
    await state.delete(key)

    await createSigningKey(state, found.value)
    move(30 * 86_400 - 1)
    expect(await find()).not.toBeNull()
    move(1)
    expect(await find()).toBeNull()
  })

  it.each([
    ['an algorithm that signs nothing of ours', { ...record, alg: 'HS256' }],
    ['a JWK with a private member', { ...record, jwk: { ...jwk, d: 'd'.repeat(43) } }],
    ['a secret key', { ...record, jwk: { kty: 'oct', k: 'AAAA' } }],
    ['a JWK that names another kid', { ...record, jwk: { ...jwk, kid: 'k2' } }],
    ['a JWK that names another algorithm', { ...record, jwk: { ...jwk, alg: 'RS256' } }],
    ['a JWK for encryption', { ...record, jwk: { ...jwk, use: 'enc' } }],
    ['an RSA key under 2048 bits', { ...record, jwk: { kty: 'RSA', n: 'n'.repeat(341), e: 'AQAB' } }],
    ['no activation', { ...record, activateAt: undefined }],
    ['a private key that is no base64', { ...record, wrapped: 'AAEC_w' }],
    ['another kid than its key', { ...record, id: 'k2', jwk: { ...jwk, kid: 'k2' } }],
    ['no object', 'k1'],
  ])('with %s is absent', async (_, value) => {
    const { state, write, find } = store()
    await write(key, value)
    expect(await find()).toBeNull()
    expect(await listSigningKeys(state, noLog)).toEqual([])
  })

  it('is listed whichever ring and spelling it is of, over as many pages as there are', async () => {
    const { state, write } = store()
    const kids = Array.from({ length: 120 }, (_, n) => `k${String(n).padStart(3, '0')}`)
    for (const id of kids) await write(keys.signingKey('ES256', id), { ...record, id, jwk: { ...jwk, kid: id } })
    await write(keys.signingKey('ES384', 'other'), { ...record, id: 'other', alg: 'ES384', jwk: { ...jwk, kid: 'other', alg: 'ES384' } })

    await write(keys.legacySigningKey('ES256', 'go'), { ...record, id: 'go', jwk: { ...jwk, kid: 'go' } })
    const listed = await listSigningKeys(state, noLog)
    expect(listed.map(({ value }) => value.id)).toEqual([...kids, 'other', 'go'])
  })
})

describe('the tombstones of a ring', () => {
  it('name the retired kids of that ring', async () => {
    const { state } = store()
    await state.put(keys.retiredSigningKey('ES256', 'k1'), utf8('1'), 60)
    await state.put(keys.retiredSigningKey('ES384', 'k2'), utf8('1'), 60)
    expect(await listRetiredKids(state, 'ES256')).toEqual(new Set(['k1']))
  })
})
