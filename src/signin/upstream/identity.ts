import { email } from '../../config/values.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import type { UpstreamProvider } from './providers.ts'
import { UpstreamRefusal } from './refusals.ts'

export type Claims = Readonly<Record<string, unknown>>

/** The claim of a provider's tokens that says who somebody is. */
export function subjectClaim({ settings }: UpstreamProvider): string {
  return settings.kind === 'google' ? 'email' : settings.subject_claim
}

/**
 * Whom verified claims speak of: an address the provider has verified, of the company's own domains where the document names them.
 *
 * @throws UpstreamRefusal no_address, unverified_address, foreign_domain
 */
export function identityOf(claims: Claims, provider: UpstreamProvider): PersonId {
  const address = email.safeParse(claims[subjectClaim(provider)])
  if (!address.success) throw new UpstreamRefusal('no_address')
  const { settings } = provider
  const isTrusted = settings.kind === 'oidc' && settings.trust_email
  if (!isTrusted && claims.email_verified !== true) throw new UpstreamRefusal('unverified_address')
  const person = personId(address.data)

  const domains = settings.kind === 'google' ? settings.hosted_domains : settings.domains
  if (domains === undefined) return person
  const ofCompany = domains.includes(address.data.slice(address.data.lastIndexOf('@') + 1))
  // Google: a person's own account may carry a company address, and only `hd` says that the company keeps the account
  if (!ofCompany || (settings.kind === 'google' && !isHosted(claims.hd, domains))) {
    throw new UpstreamRefusal('foreign_domain', '', { subject: person })
  }
  return person
}

function isHosted(hd: unknown, domains: readonly string[]): boolean {
  return typeof hd === 'string' && domains.includes(hd.toLowerCase())
}
