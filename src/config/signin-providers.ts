import * as z from 'zod'
import { externalAddressProblem } from './external-address.ts'
import { entries, field, type Problem, part } from './problems.ts'
import { domain, issuerOrigin, text } from './values.ts'

/** Google's issuer identifier: the same for everybody, and so no field of the document. */
export const GOOGLE = 'https://accounts.google.com'

const KEPT_IDS = ['picker', 'recovery', 'conformance'] // what the other ways of signing in are called, in URLs and in records

/** Names a provider in URLs (`/login/<id>/callback`), secrets, records and logs. */
const providerId = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'is not 1 to 32 lower-case letters, digits and inner dashes')
  .refine((id) => !KEPT_IDS.includes(id), `is the name of another way to sign in (${KEPT_IDS.join(', ')})`)

const google = z.strictObject({
  kind: z.literal('google'),
  /** What people read on the button. */
  name: text(80).default('Google'),
  /** The company's own domains at Google: `hd` and the address itself must be of one. */
  hosted_domains: z.array(domain).min(1, 'names no domain: whoever has an account at Google could come'),
})

const oidc = z.strictObject({
  kind: z.literal('oidc'),
  /** Its issuer identifier; discovery is looked for below it (OpenID Connect Discovery section 4). */
  issuer: z.string().superRefine((value, context) => {
    const problem = identifierProblem(value)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  }),
  name: text(80),
  /** How this service authenticates at its token endpoint; the first of these that its discovery names when absent. */
  client_auth: z.enum(['client_secret_basic', 'client_secret_post']).optional(),
  /** Asked for beside `openid` and `email`. */
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'is not a scope (RFC 6749 section 3.3)')).default([]),
  /** The claim that holds a person's address. */
  subject_claim: z
    .string()
    .regex(/^[\w:./-]{1,100}$/, 'is not the name of a claim')
    .default('email'),
  /** Its addresses count though it does not say `email_verified`. */
  trust_email: z.boolean().default(false),
  /** Addresses are of one of these domains; of any when absent. */
  domains: z.array(domain).min(1, 'names no domain').optional(),
})

/** The providers of a service document that people may sign in at, by id. */
export const signinProviders = z.record(
  providerId,
  z.discriminatedUnion('kind', [google, oidc], {
    error: (issue) => (issue.code === 'invalid_union' ? 'is none of google, oidc' : undefined),
  }),
)

export type SigninProvider = z.output<typeof google> | z.output<typeof oidc>

/** What the shape of a provider can't say: where it may be, beside this issuer, and which of its fields need each other. */
export function providerProblems(document: unknown): Problem[] {
  const issuer = part(issuerOrigin, field(document, 'issuer'))
  return entries(field(field(document, 'signin'), 'providers')).flatMap(([id, provider]) => {
    const address = part(oidc.shape.issuer, field(provider, 'issuer'))
    const claim = part(oidc.shape.subject_claim, field(provider, 'subject_claim'))
    const found: Problem[] = []
    const say = (key: string, message: string) => found.push({ path: ['signin', 'providers', id, key], message })
    if (field(provider, 'kind') !== 'oidc') return []
    const unreachable = address === undefined || issuer === undefined ? null : externalAddressProblem(address, issuer)
    if (unreachable !== null) say('issuer', unreachable)
    else if (address !== undefined && isSame(address, GOOGLE)) say('issuer', "is Google's: kind google, which looks at hosted_domains too")
    else if (address !== undefined && issuer !== undefined && isSame(address, issuer)) say('issuer', 'is this service itself')
    if (claim !== undefined && claim !== 'email' && field(provider, 'trust_email') !== true) {
      say('subject_claim', 'needs trust_email: true, because email_verified speaks of the claim email alone')
    }
    return found
  })
}

/** RFC 8414 section 2: a URL without query and fragment. Which hosts and schemes are good, providerProblems says. */
function identifierProblem(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || url.host === '') return 'is not an issuer identifier like https://login.acme.example'
  return /[?#]/.test(value) ? 'has a query or a fragment' : null
}

function isSame(a: string, b: string): boolean {
  return new URL(a).href === new URL(b).href
}
