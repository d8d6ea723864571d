import { pageResponse } from '../../http/page.tsx'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import type { Refusal } from '../../http/refusal.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { upstreamRefusedPage } from '../../pages/upstream-refused.tsx'
import type { PersonId } from '../../ports/keys.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import { ownMessage } from '../../telemetry/describe-error.ts'
import { startPath, type UpstreamProvider } from './providers.ts'
import { REASONS, type Reason, type Words } from './reasons.ts'

/** A sign-in at a provider that goes no further. The message is for the log: the reason, and what of it our own words can say. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal'
  readonly [ownMessage] = true
  readonly reason: Reason
  /** Whom the provider has vouched for, where it has. */
  readonly subject: PersonId | undefined

  constructor(reason: Reason, detail = '', { subject, cause }: { subject?: PersonId; cause?: unknown } = {}) {
    super(detail === '' ? reason : `${reason}: ${detail}`, { cause })
    this.reason = reason
    this.subject = subject
  }
}

interface Refused {
  provider: UpstreamProvider
  issuer: Issuer
  /** The request the person was to sign in for; its id alone where its record is not at hand. */
  auth?: string | undefined
  asked?: AuthorizationRequest | undefined
}

/**
 * Page, log line and audit event of a refusal. Those that are the browser's doing count as failed sign-ins.
 *
 * @throws Refusal 429
 */
export async function refuse(request: Request, refusal: UpstreamRefusal, { provider, issuer, auth, asked }: Refused): Promise<Response> {
  const { reason, subject } = refusal
  const words: Words = REASONS[reason]
  issuer.log[words.status >= 500 ? 'error' : 'warn']('signin.upstream_refused', { kind: provider.id, reason, error: refusal })
  const client = asked?.request.client_id || undefined
  issuer.audit.record({ event: 'signin.refused', subject, client, resource: asked?.resource, reason, how: provider.id })
  if (words.status < 500) await brake(issuer.limits.signIn, clientAddress(request))

  const named = (text: string) => text.replaceAll('@', provider.name)
  const page = upstreamRefusedPage({
    title: words.title,
    description: named(words.description),
    advice: named(words.advice),
    code: reason,
    again: auth === undefined || words.again === undefined ? undefined : againAt(words.again, provider, auth),
  })
  return pageResponse(page, { site: issuer.site, status: words.status, requestId: issuer.requestId })
}

/** A refusal of the directory's, audited as that. The provider knows the browser by now and would send the same account again: here is the way past it. */
export function refuseAccount(refusal: Refusal, { provider, issuer, auth }: { provider: UpstreamProvider; issuer: Issuer; auth: string }) {
  const { code, status, words } = refusal
  issuer.log.info('request.refused', { code, status, error: refusal })
  const page = upstreamRefusedPage({ ...words, again: againAt('another account', provider, auth) })
  return pageResponse(page, { site: issuer.site, status, requestId: issuer.requestId })
}

function againAt(how: NonNullable<Words['again']>, provider: UpstreamProvider, auth: string): { href: string; label: string } {
  switch (how) {
    case 'as before':
      return { href: startPath(provider, auth), label: 'Try again' }
    case 'another account':
      return { href: startPath(provider, auth, 'select_account'), label: 'Use another account' }
    case 'anew':
      return { href: startPath(provider, auth, 'login'), label: 'Sign in again' }
  }
}
