import { GOOGLE, type SigninProvider } from '../../config/signin-providers.ts'
import type { Bytes } from '../../crypto/bytes.ts'
import { notFound } from '../../http/refusal.ts'
import type { Fetch } from '../../ports/platform.ts'
import type { Metadata } from './discovery-document.ts'

/** A company's own sign-in, or Google's: an OpenID provider that people of this installation are sent to. */
export interface UpstreamProvider {
  /** As in its addresses: `/login/<id>/start`, `/login/<id>/callback`. */
  readonly id: string
  /** What people call it. */
  readonly name: string
  /** Its issuer identifier, as the service document has it. */
  readonly issuer: string
  readonly settings: SigninProvider
  readonly parts: UpstreamParts
  /** What this isolate knows of it: values, never pending work. */
  readonly kept: Kept
}

export interface UpstreamParts {
  readonly fetch: Fetch
  /** The instance's state secret: what seals starts is derived from it. */
  readonly stateSecret: () => Promise<Bytes>
}

/** What an isolate keeps of a provider; `at` is unix ms. */
export interface Kept {
  /** `failedAt`: when it could last not be read anew, 0 when it could. */
  metadata: { value: Metadata; at: number; failedAt: number } | null
  /** As it was sent: who verifies parses it anew, for what is made of it may not be shared between requests. */
  keySet: { text: string; at: number } | null
}

/** The ways in that this room knows of. */
export interface UpstreamWays {
  readonly upstream: readonly UpstreamProvider[]
}

/** The providers of a service document, in its order. */
export function upstreamProviders(settings: Readonly<Record<string, SigninProvider>>, parts: UpstreamParts): readonly UpstreamProvider[] {
  return Object.entries(settings).map(([id, provider]) => ({
    id,
    name: provider.name,
    issuer: provider.kind === 'google' ? GOOGLE : provider.issuer,
    settings: provider,
    parts,
    kept: { metadata: null, keySet: null },
  }))
}

/** Where a person's way to a provider begins, for a request that waits. */
export function startPath({ id }: Pick<UpstreamProvider, 'id'>, auth: string, prompt?: 'login' | 'select_account'): string {
  return `/login/${id}/start?${new URLSearchParams({ auth, ...(prompt === undefined ? {} : { prompt }) })}`
}

/** The URI to register at a provider. */
export function callbackUri({ id }: Pick<UpstreamProvider, 'id'>, issuerUrl: string): string {
  return `${issuerUrl}/login/${id}/callback`
}

/** The provider that a request's path names. @throws Refusal 404 */
export function providerOf(request: Request, { upstream }: UpstreamWays): UpstreamProvider {
  const [, , id] = new URL(request.url).pathname.split('/') // as it is: no id has anything to decode
  const provider = upstream.find((candidate) => candidate.id === id)
  if (provider === undefined) throw notFound()
  return provider
}
