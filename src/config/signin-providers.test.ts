import { describe, expect, test } from 'vitest'
import { formatProblem } from './problems.ts'
import { serviceProblems, serviceSchema, withVars } from './service.ts'

const google = { kind: 'google', hosted_domains: ['acme.example'] }
const okta = { kind: 'oidc', issuer: 'https://acme.okta.example/oauth2/default', name: 'Okta' }

function document(providers: unknown, issuer = 'http://localhost:8787') {
  return { version: 1, instance: 'dev', issuer, name: 'Acme', directory: { kind: 'local', people: [] }, signin: { providers } }
}

/** What is said about these providers, less where they stand. */
function said(providers: unknown, issuer?: string): string[] {
  return serviceProblems(document(providers, issuer)).map((problem) => formatProblem(problem).replace('signin.providers.', ''))
}

/** What is said about one OpenID provider with these fields in place of its own. */
function ofOidc(fields: object, issuer?: string): string[] {
  return said({ okta: { ...okta, ...fields } }, issuer)
}

describe('providers of a service document', () => {
  test('are by id: Google with the company’s domains, and any OpenID provider', () => {
    expect(said({ google, okta })).toEqual([])
    expect(serviceSchema.parse(document({ google, okta })).signin.providers).toEqual({
      google: { ...google, name: 'Google' },
      okta: { ...okta, scopes: [], subject_claim: 'email', trust_email: false },
    })
  })

  test('have ids that stand in URLs, and are not those of other ways to sign in', () => {
    for (const id of ['google', 'acme-2', 'a', 'a'.repeat(32)]) expect(said({ [id]: google })).toEqual([])
    for (const id of ['Google', 'a.b', '-a', 'a-', 'a/b', 'a'.repeat(33)]) {
      expect(said({ [id]: google })[0]).toMatch(/is not 1 to 32 lower-case letters, digits and inner dashes$/)
    }
    for (const id of ['picker', 'recovery', 'conformance'])
      expect(said({ [id]: google })).toEqual([`${id}: is the name of another way to sign in (picker, recovery, conformance)`])
  })

  test('are of a kind that is known, with the fields of that kind alone', () => {
    expect(said({ okta: { ...okta, kind: 'saml' } })).toEqual(['okta.kind: is none of google, oidc'])
    expect(said({ okta: { ...okta, kind: undefined } })).toEqual(['okta.kind: is none of google, oidc'])
    expect(said({ google: { ...google, issuer: 'https://accounts.google.com' } })).toEqual([
      'google.issuer: is not a field this version knows',
    ])
    expect(said({ okta: null })).toEqual(['okta: is empty, not a mapping'])
    expect(said([])).toEqual(['signin.providers: is a list, not a mapping'])
  })

  test('of Google name the company’s domains', () => {
    expect(said({ google: { kind: 'google' } })).toEqual(['google.hosted_domains: is missing'])
    expect(said({ google: { ...google, hosted_domains: [] } })).toEqual([
      'google.hosted_domains: names no domain: whoever has an account at Google could come',
    ])
    expect(said({ google: { ...google, hosted_domains: ['*'] } })).toEqual(['google.hosted_domains[0]: is not a domain like acme.example'])
  })

  test('are at a public https address, or on loopback where the issuer is', () => {
    expect(ofOidc({ issuer: 'http://localhost:9000' })).toEqual([])
    expect(ofOidc({ issuer: 'http://login.acme.example' })).toEqual([
      'okta.issuer: is not https (http is for loopback, where the issuer is on loopback too)',
    ])
    expect(ofOidc({ issuer: 'https://10.0.0.1' })).toEqual(['okta.issuer: is an address that is not on the public internet'])
    expect(ofOidc({ issuer: 'https://me@login.acme.example' })).toEqual(['okta.issuer: holds a user name or password'])
    expect(ofOidc({ issuer: 'http://localhost:9000' }, 'https://id.acme.example')).toContain(
      'okta.issuer: is not https (http is for loopback, where the issuer is on loopback too)',
    )
  })

  test('have an issuer identifier: a URL without query and fragment, neither Google’s nor this service’s', () => {
    expect(ofOidc({ issuer: 'login.acme.example' })).toEqual(['okta.issuer: is not an issuer identifier like https://login.acme.example'])
    for (const end of ['?tenant=1', '#a', '?'])
      expect(ofOidc({ issuer: `https://login.acme.example/${end}` })).toEqual(['okta.issuer: has a query or a fragment'])
    expect(ofOidc({ issuer: 'https://accounts.google.com/' })).toEqual([
      "okta.issuer: is Google's: kind google, which looks at hosted_domains too",
    ])
    expect(ofOidc({ issuer: 'http://localhost:8787/' })).toEqual(['okta.issuer: is this service itself'])
  })

  test('that say who somebody is in another claim than email say that its addresses are trusted', () => {
    expect(ofOidc({ subject_claim: 'upn', trust_email: true })).toEqual([])
    expect(ofOidc({ subject_claim: 'upn' })).toEqual([
      'okta.subject_claim: needs trust_email: true, because email_verified speaks of the claim email alone',
    ])
  })

  test('are wrong field by field', () => {
    expect(ofOidc({ client_auth: 'none', scopes: ['a b'], domains: [], subject_claim: '', trust_email: 'yes', name: ' ' })).toEqual([
      'okta.name: is blank',
      'okta.client_auth: is none of client_secret_basic, client_secret_post',
      'okta.scopes[0]: is not a scope (RFC 6749 section 3.3)',
      'okta.subject_claim: is not the name of a claim',
      'okta.trust_email: is a string, not a boolean',
      'okta.domains: names no domain',
    ])
  })

  test('are held to the issuer a variable puts in its place', () => {
    const service = serviceSchema.parse(document({ okta: { ...okta, issuer: 'http://localhost:9000' } }))
    expect(() => withVars(service, { ISSUER: 'https://id.acme.example' })).toThrow(
      'signin.providers.okta.issuer: is not https (http is for loopback, where the issuer is on loopback too)',
    )
  })
})
