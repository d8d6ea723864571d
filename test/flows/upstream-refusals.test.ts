import { describe, expect, it } from 'vitest'
import { decodeBase64url, encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { pageOf } from './answers.ts'
import { claimsOf, exchange, type TestService } from './harness.ts'
import type { Bent } from './upstream-provider.ts'
import { ADA, codeOf, comeBack, refused, sent, type UpstreamWorld, upstreamWorld } from './upstream-world.ts'

const world = await upstreamWorld()
const { okta, store, service } = world
const now = Math.floor(store.clock.now() / 1000)

/** What comes of somebody's way when the provider's answer is bent. */
async function bent(how: Bent, at: UpstreamWorld = world): Promise<Response> {
  at.okta.bend(how)
  const answer = await comeBack(at)
  at.okta.bend({})
  return answer
}

function unsigned(header: object) {
  return (signed: string) => `${encodeBase64url(utf8(JSON.stringify(header)))}.${signed.split('.')[1]}.`
}

describe('OIDC Core 3.1.3.7: an ID token is refused', () => {
  it.each<[string, Bent, number, string]>([
    ['with the nonce of another start', { claims: { nonce: 'another' } }, 400, 'id_token_nonce'],
    ['without a nonce', { claims: { nonce: undefined } }, 400, 'id_token_nonce'],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }, 502, 'id_token_issuer'],
    ['for another audience', { claims: { aud: 'another client' } }, 502, 'id_token_audience'],
    ['for us and others, with no authorized party', { claims: { aud: ['our id: ü&', 'another'] } }, 502, 'id_token_audience'],
    ['for us and others, of another authorized party', { claims: { aud: ['our id: ü&', 'b'], azp: 'b' } }, 502, 'id_token_audience'],
    ['signed with our own client secret', { alg: 'HS256' }, 502, 'id_token_algorithm'],
    ['that is not signed', { idToken: unsigned({ alg: 'none' }) }, 502, 'id_token_algorithm'],
    [
      'of an algorithm it does not announce',
      { discovery: { id_token_signing_alg_values_supported: ['RS256'] } },
      502,
      'id_token_algorithm',
    ],
    ['without an algorithm', { idToken: unsigned({}) }, 502, 'id_token_algorithm'],
    ['whose signature is not there', { idToken: (signed) => signed.replace(/[^.]*$/, '') }, 502, 'id_token_signature'],
    ['whose claims were changed', { idToken: changed }, 502, 'id_token_signature'],
    ['of a key it does not publish', { kid: 'another' }, 502, 'id_token_signature'],
    ['that has expired', { claims: { exp: now - 31 } }, 502, 'id_token_time'],
    ['that is not valid yet', { claims: { nbf: now + 61 } }, 502, 'id_token_time'],
    ['without a subject', { claims: { sub: undefined } }, 502, 'provider_garbage'],
    ['without an expiry', { claims: { exp: undefined } }, 502, 'provider_garbage'],
    ['that is none', { idToken: () => 'none.of.it' }, 502, 'provider_garbage'],
    ['that is encrypted', { idToken: () => 'a.b.c.d.e' }, 502, 'provider_garbage'],
    ['with a critical extension', { idToken: unsigned({ alg: 'ES256', crit: ['x'] }) }, 502, 'id_token_algorithm'],
  ])('%s', async (_what, how, status, reason) => {
    const fresh = how.discovery === undefined ? world : await upstreamWorld()
    await refused(fresh, await bent(how, fresh), status, reason)
    expect(fresh.service.audit.events.at(-1)).toMatchObject({ how: 'okta', client: 'demo' })
    expect(fresh.service.audit.events.at(-1)?.subject).toBeUndefined()
    codeOf(await comeBack(fresh.okta === okta ? world : await upstreamWorld())) // and the right one is not
  })

  it('never within the skew of two clocks', async () => {
    codeOf(await bent({ claims: { exp: now - 29 } }))
    codeOf(await bent({ claims: { nbf: now + 29, iat: now + 29 } }))
  })

  it('for us and others is good when we are its authorized party', async () => {
    codeOf(await bent({ claims: { aud: ['our id: ü&', 'another'], azp: 'our id: ü&' } }))
  })
})

describe('keys of the provider', () => {
  it('are read once in five minutes', async () => {
    const { okta: fresh, ...rest } = await upstreamWorld()
    for (let time = 0; time < 3; time++) codeOf(await comeBack({ okta: fresh, ...rest }))
    expect(fresh.asked.filter((path) => path === '/jwks')).toHaveLength(1)
    rest.store.clock.advance(301)
    codeOf(await comeBack({ okta: fresh, ...rest }))
    expect(fresh.asked.filter((path) => path === '/jwks')).toHaveLength(2)
  })

  it('that are new are read once more, and what still does not verify is refused', async () => {
    const fresh = await upstreamWorld()
    codeOf(await comeBack(fresh))
    await fresh.okta.rotate()
    codeOf(await comeBack(fresh))
    expect(fresh.okta.asked.filter((path) => path === '/jwks')).toHaveLength(2)
    await refused(fresh, await bent({ kid: 'another' }, fresh), 502, 'id_token_signature')
    expect(fresh.okta.asked.filter((path) => path === '/jwks')).toHaveLength(3)
  })
})

describe('an address', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['none', {}, 'no_address'],
    ['no text', { email: ['ada@acme.example'], email_verified: true }, 'no_address'],
    ['no address', { email: 'ada', email_verified: true }, 'no_address'],
    ['one with a line break', { email: 'ada@acme.example\n', email_verified: true }, 'no_address'],
    ['one in letters that look alike', { email: 'аda@acme.example', email_verified: true }, 'no_address'],
    ['one that ends in a dot', { email: 'ada@acme.example.', email_verified: true }, 'no_address'],
    ['one with a NUL', { email: 'ada@acme.example\u0000', email_verified: true }, 'no_address'],
    ['one with blanks around', { email: ' ada@acme.example ', email_verified: true }, 'no_address'],
    ['two', { email: 'ada@acme.example@evil.example', email_verified: true }, 'no_address'],
    ['one whose sign is another', { email: 'ada＠acme.example', email_verified: true }, 'no_address'],
    ['one in a letter that is lower-cased into ASCII', { email: 'ada@acme.e\u212a.example', email_verified: true }, 'no_address'],
    ['one of a name in quotes', { email: '"ada"@acme.example', email_verified: true }, 'no_address'],
    ['one longer than an address', { email: `${'a'.repeat(250)}@acme.example`, email_verified: true }, 'no_address'],
    ['one of 100,000 letters', { email: `${'a'.repeat(100_000)}!`, email_verified: true }, 'no_address'],
    ['one nobody has verified', { email: 'ada@acme.example', email_verified: false }, 'unverified_address'],
    ['one of which that is not said', { email: 'ada@acme.example' }, 'unverified_address'],
    ['one verified as a text says', { email: 'ada@acme.example', email_verified: 'true' }, 'unverified_address'],
  ])('that is %s is refused, and whose it is not recorded', async (_what, claims, reason) => {
    const html = await refused(world, await comeBack(world, claims), 403, reason)
    expect(html).toContain('prompt=select_account')
    expect(service.audit.events.at(-1)?.subject).toBeUndefined()
  })

  it('is the same person in any case, and with a tag another, whom the directory does not list', async () => {
    expect(await subjectOf(service, await comeBack(world, { ...ADA, email: 'ADA@Acme.EXAMPLE' }))).toBe(ADA.email)
    expect(await pageOf(await comeBack(world, { ...ADA, email: 'ada+x@acme.example' }), 403)).toContain('does not list this account')
  })

  it('counts unverified where the document trusts it, and in another claim where it says so', async () => {
    const trusting = await upstreamWorld({ settings: { trust_email: true, subject_claim: 'upn' } })
    expect(await subjectOf(trusting.service, await comeBack(trusting, { upn: 'Ada@acme.example', email: 'grace@acme.example' }))).toBe(
      ADA.email,
    )
    await refused(trusting, await comeBack(trusting, ADA), 403, 'no_address')
  })

  it('is of one of the domains the document names', async () => {
    const narrow = await upstreamWorld({ settings: { domains: ['acme.example'] } })
    codeOf(await comeBack(narrow))
    for (const email of ['ada@acme.example.evil.example', 'ada@evil-acme.example', 'ada@sub.acme.example']) {
      await refused(narrow, await comeBack(narrow, { email, email_verified: true }), 403, 'foreign_domain')
      expect(narrow.service.audit.events.at(-1)).toMatchObject({ subject: email })
    }
  })
})

describe('Google', async () => {
  const google = await upstreamWorld({ google: true })

  it('is asked for company accounts, and for another account rather than for a new proof', async () => {
    const location = await startAt(google, { prompt: 'login' })
    expect(Object.fromEntries(location.searchParams)).toMatchObject({ hd: '*', prompt: 'select_account' })
    expect(location.searchParams.get('max_age')).toBeNull()
    const single = await upstreamWorld({ google: true, settings: { hosted_domains: ['acme.example'] } })
    expect((await startAt(single)).searchParams.get('hd')).toBe('acme.example')
  })

  it('lets in an account of a hosted domain, however it is written', async () => {
    expect(await subjectOf(google.service, await comeBack(google, { ...ADA, hd: 'ACME.example' }))).toBe(ADA.email)
    expect(await subjectOf(google.service, await comeBack(google, { ...ADA, hd: 'acme-labs.example' }))).toBe(ADA.email)
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['of somebody’s own, though its address is the company’s', ADA, 'foreign_domain'],
    ['of another company', { ...ADA, hd: 'evil.example' }, 'foreign_domain'],
    ['of a company below', { ...ADA, hd: 'sub.acme.example' }, 'foreign_domain'],
    ['of a company with a dot behind', { ...ADA, hd: 'acme.example.' }, 'foreign_domain'],
    ['of a company of no name', { ...ADA, hd: '' }, 'foreign_domain'],
    ['of several companies in one text', { ...ADA, hd: 'evil.example,acme.example' }, 'foreign_domain'],
    ['of several companies', { ...ADA, hd: ['acme.example'] }, 'foreign_domain'],
    ['of the company with an address elsewhere', { email: 'ada@evil.example', email_verified: true, hd: 'acme.example' }, 'foreign_domain'],
    ['of the company that is not verified', { email: ADA.email, hd: 'acme.example' }, 'unverified_address'],
  ])('refuses an account %s', async (_what, claims, reason) => {
    await refused(google, await comeBack(google, claims), 403, reason)
  })

  it('says no auth_time but to some, and nobody is refused for it unless it was too long ago', async () => {
    await refused(google, await comeBack(google, { ...ADA, hd: 'acme.example', auth_time: now - 86_400 }), 403, 'proved_long_ago')
    codeOf(await comeBack(google, { ...ADA, hd: 'acme.example' }, { max_age: '900' }))
  })
})

async function startAt({ service: at }: UpstreamWorld, changes: Record<string, string> = {}): Promise<URL> {
  return new URL((await sent({ service: at }, changes)).location)
}

async function subjectOf(at: TestService, answer: Response): Promise<unknown> {
  const { id_token } = await (await exchange(at, codeOf(answer))).json<{ id_token: string }>()
  return claimsOf(id_token).sub
}

function changed(signed: string): string {
  const [header, payload = '', signature] = signed.split('.')
  const claims = { ...JSON.parse(new TextDecoder().decode(decodeBase64url(payload) ?? new Uint8Array())), email: 'grace@acme.example' }
  return [header, encodeBase64url(utf8(JSON.stringify(claims))), signature].join('.')
}
