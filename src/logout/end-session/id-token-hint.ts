import { decodeJwt, decodeProtectedHeader } from 'jose'
import { invalidRequest } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import type { Keyring } from '../../keyring/keyring.ts'
import { type PersonId, personId } from '../../ports/keys.ts'

/** An ID token of ours that a client was once given. */
export type Hint = ProvenHint | UnprovenHint

export interface ProvenHint {
  isProven: true
  /** The client it was issued to. */
  clientId: string
  person: PersonId
  sid: string | undefined
  /** unix seconds */
  authTime: number | undefined
}

/** One whose key is no longer published: it may be ours of yesterday or somebody's of today, so it proves nothing. */
export interface UnprovenHint {
  isProven: false
  /** Whom it says it was issued to: worth what a `client_id` is. */
  clientId: string
}

export interface HintParts {
  /** The issuer identifier. */
  url: string
  keyring: Pick<Keyring, 'verify' | 'keySet'>
}

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 2: an ID token of ours, however long ago it expired. An ID token outlives the key that
 * signed it in the hands of its client, so that one by a key that has gone is no forgery: who sent it is asked like anybody without.
 *
 * @throws OAuthError invalid_request: anything else. PortError Unavailable
 */
export async function idTokenHint(parameters: Parameters, parts: HintParts): Promise<Hint | undefined> {
  const token = parameters.get('id_token_hint')
  if (token === undefined) return undefined
  const { isProven, payload } = (await read(token, parts)) ?? { isProven: false, payload: {} }
  const { iss, sub, sid, auth_time } = payload
  const clientId = audienceOf(payload)
  if (clientId === undefined || iss !== parts.url || typeof sub !== 'string') {
    throw invalidRequest('id_token_hint is not an ID token of this issuer')
  }
  if (!isProven) return { isProven, clientId }
  return {
    isProven,
    clientId,
    person: personId(sub),
    sid: typeof sid === 'string' ? sid : undefined,
    authTime: typeof auth_time === 'number' ? auth_time : undefined,
  }
}

const TYP = 'JWT'

interface Read {
  isProven: boolean
  payload: Record<string, unknown>
}

/** Null for what is no ID token, or is signed with another key than the published one it names. */
async function read(token: string, { keyring }: HintParts): Promise<Read | null> {
  const verify = async () => {
    const verified = await keyring.verify(token, { typ: [TYP] })
    return verified === null ? null : { isProven: true, payload: verified.payload }
  }
  const verified = await verify()
  const unverified = verified === null ? decoded(token) : null
  if (unverified === null) return verified
  const { kid, alg, typ } = unverified.header
  if (typ !== TYP || alg === 'none' || typeof kid !== 'string' || kid === '') return null
  const { keys } = await keyring.keySet()
  // Once more where the key is there: the set may have been read anew since.
  return keys.some((key) => key.kid === kid) ? verify() : { isProven: false, payload: unverified.payload }
}

function decoded(token: string): { header: Record<string, unknown>; payload: Record<string, unknown> } | null {
  try {
    return { header: { ...decodeProtectedHeader(token) }, payload: decodeJwt(token) }
  } catch {
    return null
  }
}

/** Of the Go service's ID tokens too: its `aud` is a list of one. */
function audienceOf({ aud }: Record<string, unknown>): string | undefined {
  const [only, ...others] = Array.isArray(aud) ? aud : [aud]
  return others.length === 0 && typeof only === 'string' ? only : undefined
}
