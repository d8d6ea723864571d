import { describe, expect, it } from 'vitest'
import { seededScheduler } from '../adapters/memory/scheduler.ts'
import { memorySecrets, secretsMemory } from '../adapters/memory/secrets.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { Secret, Secrets } from '../ports/secrets.ts'
import { clientSecretPath, createClientSecret, readClientSecret } from './client-secret.ts'

const PATH = 'external/oidc/web'
const DAY = 86_400_000
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const clock = { now: () => Date.UTC(2026, 10, 30) }

function document(secret: unknown, more: object = {}) {
  return utf8(JSON.stringify({ schema: 'oidc/v1', 'client-id': 'web', 'client-secret': secret, ...more }))
}

function kept(value: Uint8Array<ArrayBuffer>, previous?: Uint8Array<ArrayBuffer>): Secret {
  return { value, version: '1', modified: 1_000, ...(previous === undefined ? {} : { previous }) }
}

describe('where the secret of a client stands', () => {
  it('is its address, or the one of a generated secret, its id made a segment', () => {
    expect(clientSecretPath('web', { secret: 'internal/oidc/clients/web' })).toBe('internal/oidc/clients/web')
    expect(clientSecretPath('web', { secret: { generate: true } })).toBe(PATH)
    expect(clientSecretPath('u-1', { secret: { generate: true } })).toBe('external/oidc/u-752d31')
    expect(clientSecretPath('web', {})).toBeNull()
  })
})

describe('what a client may prove itself with', () => {
  it('is the secret of its document, and for a day the one before', () => {
    expect(readClientSecret('web', PATH, kept(document('new'), document('old')))).toEqual({
      current: 'new',
      previous: 'old',
      previousUntil: 1_000 + DAY,
    })
  })

  it('is the one before for as long as the document says', () => {
    const until = { 'previous-valid-until': '2026-11-30T12:00:00.000Z' }
    expect(readClientSecret('web', PATH, kept(document('new', until), document('old')))).toMatchObject({
      previousUntil: Date.UTC(2026, 10, 30, 12),
    })
  })

  it('is no more than the current one when the document says no time', () => {
    expect(readClientSecret('web', PATH, kept(document('new', { 'previous-valid-until': 'soon' }), document('old')))).toMatchObject({
      current: 'new',
      previousUntil: 0,
    })
  })

  it('is the bytes themselves below internal/', () => {
    const path = 'internal/oidc/clients/web'
    expect(readClientSecret('web', path, kept(utf8('new'), utf8('old')))).toEqual({
      current: 'new',
      previous: 'old',
      previousUntil: 1_000 + DAY,
    })
    expect(readClientSecret('web', path, kept(utf8('')))).toEqual({ problem: 'it is empty, or no text' })
  })

  it.each<[string, Uint8Array<ArrayBuffer>]>([
    ['of another client', document('s3cret', { 'client-id': 'wiki' })],
    ['without its secret', document('')],
    ['of another schema', document('s3cret', { schema: 'oidc/v2' })],
    ['no document', utf8('s3cret')],
  ])('is nothing when what stands is %s, and nothing of it is said', (_what, value) => {
    const read = readClientSecret('web', PATH, kept(value, document('old')))
    expect(read).toEqual({ problem: expect.any(String) })
    expect(JSON.stringify(read)).not.toContain('s3cret')
    expect(readClientSecret('web', PATH, kept(document('new'), value))).toMatchObject({ current: 'new', previous: null })
  })
})

describe('making a secret', () => {
  it('draws 32 bytes, in a document as every reader knows it', async () => {
    const secrets = memorySecrets({ clock })
    expect(await createClientSecret('web', { secrets, random })).toBe('made')
    const text = fromUtf8((await secrets.get(PATH)).value)
    expect(text).toMatch(/^\{"client-id":"web","client-secret":"[\w-]{43}","schema":"oidc\/v1"\}$/)
  })

  it('adopts what stands, whatever it is', async () => {
    const secrets = memorySecrets({ clock })
    await secrets.put(PATH, utf8('{'))
    expect(await createClientSecret('web', { secrets, random })).toBe('stands')
    expect(fromUtf8((await secrets.get(PATH)).value)).toBe('{')
  })

  it.each(Array.from({ length: 10 }, (_, seed) => seed))('of 20 at once, seed %i, one makes it', async (seed) => {
    const memory = secretsMemory()
    const scheduler = seededScheduler(seed)
    const racers = Array.from({ length: 20 }, () => memorySecrets({ clock, memory, scheduler }))
    const outcomes = await Promise.all(racers.map((secrets) => createClientSecret('web', { secrets, random })))
    expect(outcomes.filter((one) => one === 'made')).toHaveLength(1)
    expect(memory.writes).toBe(1)
  })

  it('whose answer is lost is known to have landed', async () => {
    const store = memorySecrets({ clock })
    const lossy = afterwards(store, () => true)
    expect(await createClientSecret('web', { secrets: lossy, random })).toBe('made')
  })

  it('that did not land is not said to have', async () => {
    const store = memorySecrets({ clock })
    const away: Secrets = { ...store, putIfVersion: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expect(createClientSecret('web', { secrets: away, random })).rejects.toMatchObject({ code: 'Unavailable' })
    await store.put(PATH, document('of another'))
    await expect(createClientSecret('web', { secrets: away, random })).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

/** A store that takes writes and then says it is away. */
function afterwards(store: Secrets, loses: () => boolean): Secrets {
  return {
    ...store,
    async putIfVersion(...given) {
      const version = await store.putIfVersion(...given)
      if (loses()) throw new PortError('Unavailable', 'the answer got lost')
      return version
    },
  }
}
