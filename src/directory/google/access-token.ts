import * as z from 'zod'
import type { Endpoints } from './endpoints.ts'
import { type Asking, exchange, member } from './exchange.ts'
import { GoogleError } from './google-error.ts'
import { type ServiceAccount, signAssertion } from './service-account.ts'

/** Access tokens as an isolate keeps them: values, by account, key and admin. */
export type TokenCache = Map<string, { token: string /** unix ms */; until: number }>

export interface Identity {
  account: ServiceAccount
  /** The administrator it acts as. */
  admin: string
}

const EARLY = 300_000 // ms: a token is given up this long before its end, so that none ends while a page is under way

const granted = z.object({ access_token: z.string().min(1), expires_in: z.number().positive(), token_type: z.string() })

/**
 * An access token: the one that is kept, else a new one for a signed assertion (RFC 7523 section 2.1).
 *
 * @throws GoogleError refused, away, garbage. OutOfCalls
 */
export async function accessToken({ account, admin }: Identity, endpoints: Endpoints, cache: TokenCache, asking: Asking): Promise<string> {
  const name = cacheName({ account, admin })
  const kept = cache.get(name)
  if (kept !== undefined && asking.clock.now() < kept.until) return kept.token
  const assertion = await signAssertion(account, admin, endpoints.token, asking.clock)
  const askedAt = asking.clock.now()
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const answer = await exchange(endpoints.token, { method: 'POST', headers, body }, asking)
  if (answer.status >= 400) throw refusedToken(answer.body)
  const read = granted.safeParse(answer.body)
  if (!read.success || read.data.token_type.toLowerCase() !== 'bearer')
    throw new GoogleError('garbage', 'Google: its token endpoint answers no token')
  const { access_token: token, expires_in } = read.data
  cache.set(name, { token, until: askedAt + expires_in * 1_000 - EARLY })
  return token
}

/** Forgets a token that the directory did not take. */
export function dropToken(identity: Identity, token: string, cache: TokenCache): void {
  const name = cacheName(identity)
  if (cache.get(name)?.token === token) cache.delete(name)
}

function cacheName({ account, admin }: Identity): string {
  return JSON.stringify([account.email, account.keyId, admin])
}

/** What each error of the token endpoint comes from, in words for the operator. */
const WHY = new Map([
  ['invalid_grant', 'the key is deleted or disabled, the admin is no account of this Workspace, or the clock is wrong'],
  ['unauthorized_client', 'domain-wide delegation of the four scopes is not granted to this service account'],
  ['invalid_client', 'the service account is not there any more'],
  ['access_denied', 'the service account may not act as this admin'],
  ['invalid_scope', 'domain-wide delegation lacks one of the four scopes'],
])

function refusedToken(body: unknown): GoogleError {
  const error = member(body, 'error')
  const known = typeof error === 'string' ? WHY.get(error) : undefined
  if (known === undefined) return new GoogleError('garbage', 'Google: its token endpoint refuses with no error that it documents')
  return new GoogleError('refused', `Google gives no token (${String(error)}): ${known}`)
}
