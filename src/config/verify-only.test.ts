import { describe, expect, test } from 'vitest'
import { formatProblem } from './problems.ts'
import { serviceProblems, serviceSchema } from './service.ts'
import { verifyOnlyWarnings } from './verify-only.ts'

const [c32, c48, c66] = [43, 64, 88].map((length) => 'A'.repeat(length))
const p256 = { kty: 'EC', crv: 'P-256', x: c32, y: c32 }
const entry = { kid: 'old', alg: 'ES256', until: '2027-01-31T12:00:00Z', jwk: p256 }
const document = {
  version: 1,
  instance: 'dev',
  issuer: 'http://localhost:8787',
  name: 'Acme',
  directory: { kind: 'local', people: [{ email: 'ada@acme.example' }] },
  signin: { picker: true },
}

function said(...keys: unknown[]): string[] {
  return serviceProblems({ ...document, keyring: { verify_only: keys } }).map((problem) =>
    formatProblem(problem).replace('keyring.verify_only', ''),
  )
}

describe('a key that is only verified with', () => {
  test.each([
    ['ES256', p256],
    ['ES384', { kty: 'EC', crv: 'P-384', x: c48, y: c48 }],
    ['ES512', { kty: 'EC', crv: 'P-521', x: c66, y: c66 }],
    ['EdDSA', { kty: 'OKP', crv: 'Ed25519', x: c32 }],
    ['RS256', { kty: 'RSA', n: 'A'.repeat(342), e: 'AQAB' }],
  ])('is one for %s', (alg, jwk) => {
    expect(said({ ...entry, alg, jwk })).toEqual([])
  })

  test('is good until an instant, unix seconds as read', () => {
    const read = serviceSchema.parse({ ...document, keyring: { verify_only: [{ ...entry, until: '2027-01-31T13:00:00+01:00' }] } })
    expect(read.keyring.verify_only[0]?.until).toBe(Date.UTC(2027, 0, 31, 12) / 1_000)
  })

  test.each<[string, object, RegExp]>([
    ['a private key', { jwk: { ...p256, d: c32 } }, /^\[0\]\.jwk: holds a private key$/],
    ['a secret', { jwk: { kty: 'oct', k: c32 } }, /^\[0\]\.jwk.*: is not EC, RSA or OKP$/],
    ['of another curve', { alg: 'ES384' }, /^\[0\]\.jwk: is no key for ES384, which takes kty EC with crv P-384$/],
    ['of another kind', { alg: 'RS256' }, /^\[0\]\.jwk: is of kty EC, and RS256 takes RSA$/],
    ['cut', { jwk: { ...p256, x: c32?.slice(1) } }, /^\[0\]\.jwk: has coordinates of another size than P-256$/],
    ['a short RSA key', { alg: 'RS256', jwk: { kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB' } }, /^\[0\]\.jwk\.n: is under 2048 bits$/],
    ['half a key', { jwk: { kty: 'EC', crv: 'P-256', x: c32 } }, /^\[0\]\.jwk\.y: is missing$/],
    ['no key', { jwk: undefined }, /^\[0\]\.jwk.*: is missing$/],
    ['for encryption', { jwk: { ...p256, use: 'enc' } }, /^\[0\]\.jwk\.use: is not sig$/],
    ['of an algorithm we do not know', { alg: 'HS256' }, /^\[0\]\.alg: is none of ES256/],
    ['under another kid than its own', { jwk: { ...p256, kid: 'new' } }, /^\[0\]\.kid: is not the kid of its jwk, new$/],
    ['under another alg than its own', { jwk: { ...p256, alg: 'ES384' } }, /^\[0\]\.alg: is not the alg of its jwk, ES384$/],
    ['without a kid', { kid: '' }, /^\[0\]\.kid: is not 1 to 200 printable/],
    ['without an end', { until: undefined }, /^\[0\]\.until: is missing$/],
    ['until a day', { until: '2027-01-31' }, /^\[0\]\.until: is no date and time like/],
    ['until some second', { until: 1_800_000_000 }, /^\[0\]\.until: is no date and time like/],
    ['with a field more', { use: 'sig' }, /^\[0\]\.use: is not a field this version knows$/],
  ])('is not %s', (_what, change, why) => {
    expect(said({ ...entry, ...change })).toEqual([expect.stringMatching(why)])
  })

  test('has a kid of its own', () => {
    expect(said(entry, { ...entry, kid: 'other' }, entry)).toEqual(['[2].kid: is the kid of verify_only[0] too'])
  })

  test('whose time is over is warned of, and is no error', () => {
    const { keyring } = serviceSchema.parse({ ...document, keyring: { verify_only: [entry] } })
    const [{ until = 0 } = {}] = keyring.verify_only
    expect(verifyOnlyWarnings(keyring.verify_only, until - 1)).toEqual([])
    expect(verifyOnlyWarnings(keyring.verify_only, until).map(formatProblem)).toEqual([
      'keyring.verify_only[0].until: is over: the key is published no more, and can go',
    ])
  })
})
