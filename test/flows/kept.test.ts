import { describe, expect, it } from 'vitest'
import { fromUtf8 } from '../../src/crypto/bytes.ts'
import { authorizeUrl, exchange, redeployed, signIn, startService, TestBrowser, type TestStore, type Tokens, testStore } from './harness.ts'

const store = testStore('memory', {
  edit({ service }) {
    service.keyring.rings = ['ES256']
  },
})
const service = startService(store)

/** Every record by the kind its key begins with: seconds it has left, and its text. */
async function kept(of: TestStore): Promise<Record<string, { seconds: number | 'permanent'; text: string }>> {
  const found: Record<string, { seconds: number | 'permanent'; text: string }> = {}
  const { export: every } = of.adapters().state
  if (every === undefined) throw new Error('memory State has export')
  for await (const { key, value, ttl } of every('')) {
    const [kind = ''] = /^(issuer:[a-z-]+|[a-z-]+)/.exec(key) ?? []
    found[kind] = { seconds: ttl, text: `${key} ${fromUtf8(value)}` }
  }
  return found
}

function lifetimes(records: Awaited<ReturnType<typeof kept>>): Record<string, number | 'permanent'> {
  return Object.fromEntries(Object.entries(records).map(([kind, { seconds }]) => [kind, seconds]))
}

const browser = new TestBrowser(service)
const login = (await browser.get(await authorizeUrl())).headers.get('location')?.split('auth=')[1] ?? ''
const waitingRecords = await kept(store)
const answer = await browser.post('/login/picker', { auth: login, person: 'ada@acme.example' })
const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? ''
const signedInRecords = await kept(store)
const tokens = await (await exchange(service, code)).json<Tokens>()
const exchangedRecords = await kept(store)

describe('a record lives as long as it is of use', () => {
  it('a waiting request, half an hour', () => {
    expect(lifetimes(waitingRecords)).toEqual({ req: 1_800 })
  })

  it('a sign-in and its cookie, as long as what it opened may; its code, five minutes; its request no longer', () => {
    expect(lifetimes(signedInRecords)).toEqual({ code: 300, sso: 86_400, 'issuer:sso-cookie': 86_400 })
  })

  it('what an exchange opened: the token an hour and its tombstone as long, the refresh token its idle limit, the session twice that', () => {
    expect(lifetimes(exchangedRecords)).toEqual({
      code: 300,
      sso: 86_400,
      'issuer:sso-cookie': 86_400,
      'issuer:code-spent': 3_600,
      ses: 86_400,
      sid: 86_400,
      rt: 43_200,
      tok: 3_600,
      keyring: 2_592_000,
    })
  })

  it('a tombstone five minutes at least, and nothing past the absolute limit', async () => {
    const short = redeployed(
      testStore('memory', {
        edit({ service }) {
          service.keyring.rings = ['ES256']
        },
      }),
      ({ policy }) => {
        Object.assign(policy.lifetimes, { token: 120, refresh: 200, absolute: 300 })
      },
    )
    const at = startService(short)
    const redirect = await signIn(new TestBrowser(at))
    short.clock.advance(150)
    await exchange(at, redirect.searchParams.get('code') ?? '')
    expect(lifetimes(await kept(short))).toMatchObject({ 'issuer:code-spent': 300, ses: 150, sid: 150, rt: 150, tok: 120, sso: 150 })
  })
})

describe('no record holds what would do in place of the one it was given to', () => {
  const bearers = { code, ...tokens, ...Object.fromEntries(browser.cookies) }
  it.each(Object.entries(bearers).filter(([name]) => /code|token|sluis/.test(name) && name !== 'token_type'))('%s', (_name, value) => {
    expect(String(value).length).toBeGreaterThan(40)
    for (const { text } of Object.values({ ...waitingRecords, ...exchangedRecords })) expect(text).not.toContain(value)
  })

  it('nor the private half of a signing key in the clear', () => {
    const { wrapped, jwk } = JSON.parse(exchangedRecords.keyring?.text.replace(/^\S+ /, '') ?? '')
    expect(Object.keys(jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    expect(atob(wrapped)).not.toContain('\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07') // prime256v1, as PKCS#8 names it
  })
})
