import * as oauth from 'oauth4webapi'
import { externalAddressProblem } from '../../config/external-address.ts'
import { isLoopbackHost } from '../../config/values.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { countedFetch } from '../../ticks/budget.ts'
import { keySet, type Metadata, metadata } from './discovery-document.ts'
import { type GuardedFetch, guardedFetch, type Outgoing, UpstreamAway } from './guarded-fetch.ts'
import type { UpstreamProvider } from './providers.ts'
import { UpstreamRefusal } from './refusals.ts'

const FRESH = 3_600 // s: endpoints move once in years
const STANDS = 86_400 // s: while the provider's discovery is away, what it said within a day
const RETRY_AFTER = 60 // s: and it is not asked by every sign-in
const KEYS_FRESH = 300 // s: as long as a key that was withdrawn is still believed

/** What calls of oauth4webapi to a provider are made with. */
export interface Reach {
  [oauth.customFetch]: GuardedFetch
  [oauth.allowInsecureRequests]: boolean
}

/** Through the guard, counted among what this invocation may call. */
export function reach(provider: UpstreamProvider, issuer: Issuer): Reach {
  return {
    [oauth.customFetch]: guardedFetch(countedFetch(provider.parts.fetch, issuer.calls), issuer.url),
    // the guard lets http pass to loopback alone, from loopback alone
    [oauth.allowInsecureRequests]: isLoopbackHost(new URL(issuer.url).hostname),
  }
}

/**
 * The provider's metadata, of this request alone: read once an hour, and what it said last stands for a day while it can't be read.
 *
 * @throws UpstreamRefusal provider_unreachable, provider_garbage
 */
export async function upstreamMetadata(provider: UpstreamProvider, issuer: Issuer): Promise<Metadata> {
  const kept = provider.kept.metadata
  const age = kept === null ? Number.POSITIVE_INFINITY : Math.abs(issuer.clock.now() - kept.at) / 1000
  if (kept !== null && (age < FRESH || (age < STANDS && Math.abs(issuer.clock.now() - kept.failedAt) / 1000 < RETRY_AFTER))) {
    return structuredClone(kept.value)
  }
  try {
    const value = await discover(provider, issuer)
    provider.kept.metadata = { value, at: issuer.clock.now(), failedAt: 0 }
    return structuredClone(value)
  } catch (error) {
    if (kept === null || age >= STANDS) throw error
    kept.failedAt = issuer.clock.now()
    issuer.log.warn('signin.upstream_stale', { kind: provider.id, error })
    return structuredClone(kept.value)
  }
}

async function discover(provider: UpstreamProvider, issuer: Issuer): Promise<Metadata> {
  const identifier = new URL(provider.issuer)
  let document: oauth.AuthorizationServer
  try {
    document = await oauth.processDiscoveryResponse(identifier, await oauth.discoveryRequest(identifier, reach(provider, issuer)))
  } catch (cause) {
    if (cause instanceof UpstreamAway) throw new UpstreamRefusal('provider_unreachable', 'at its discovery document', { cause })
    throw new UpstreamRefusal('provider_garbage', 'its discovery document is none, or of another issuer', { cause })
  }
  const read = metadata.safeParse(document)
  if (!read.success) throw new UpstreamRefusal('provider_garbage', 'its discovery document lacks what a sign-in needs')
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = read.data
  const addresses = [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint].filter((address) => address !== undefined)
  if (addresses.some((address) => externalAddressProblem(address, issuer.url) !== null))
    throw new UpstreamRefusal('provider_garbage', 'its discovery document names an address that is not public https')
  return read.data
}

/**
 * Verifies the signature of the ID token in a token answer. Keys are read at most every five minutes, and once more when those that are
 * kept do not verify it: the provider may have new ones.
 *
 * @throws what oauth4webapi throws, UpstreamAway
 */
export async function verifySignature(answer: Response, server: Metadata, provider: UpstreamProvider, issuer: Issuer): Promise<void> {
  const kept = provider.kept.keySet
  if (kept !== null && Math.abs(issuer.clock.now() - kept.at) < KEYS_FRESH * 1000) {
    try {
      return await verifyWith(() => Promise.resolve(kept.text), answer, server, issuer)
    } catch {
      // with those of now, then
    }
  }
  const outside = reach(provider, issuer)
  let fetched = ''
  const download = async (address: string, init: Outgoing) => {
    const answered = await outside[oauth.customFetch](address, init)
    fetched = await answered.text()
    if (answered.status !== 200 || !isKeySet(fetched)) throw new UpstreamRefusal('provider_garbage', 'its key set is none')
    return fetched
  }
  await verifyWith(download, answer, server, issuer)
  provider.kept.keySet = { text: fetched, at: issuer.clock.now() }
}

function isKeySet(text: string): boolean {
  try {
    return keySet.safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

/** With a copy of the metadata: oauth4webapi hangs keys and downloads under way on the object, and those are one request's. */
function verifyWith(
  read: (address: string, init: Outgoing) => Promise<string>,
  answer: Response,
  server: Metadata,
  { url }: Issuer,
): Promise<void> {
  return oauth.validateApplicationLevelSignature({ ...server }, answer, {
    [oauth.customFetch]: async (address: string, init: Outgoing) => {
      return new Response(await read(address, init), { headers: { 'content-type': 'application/json' } })
    },
    [oauth.allowInsecureRequests]: isLoopbackHost(new URL(url).hostname),
  })
}
