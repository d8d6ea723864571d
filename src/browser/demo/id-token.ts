import { decodeBase64url } from '../../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import { type JsonObject, objectOf } from './json.ts'

export interface Expected {
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
  /** unix milliseconds */
  readonly now: number
}

/** s: clocks differ; more than a minute is a clock to repair */
const SKEW = 60

/**
 * The claims of an ID token after every check of OpenID Connect Core section 3.1.3.7 that applies: signature (ES256 only) by a key of
 * the set, iss, aud, azp, exp, nonce.
 *
 * @throws Error in words for the page
 */
export async function verifyIdToken(token: string, keySet: JsonObject, expected: Expected): Promise<JsonObject> {
  const { header, claims, signed, signature } = parseJwt(token)
  if (header.alg !== 'ES256') throw new Error(`The ID token is signed with ${String(header.alg)}, and this client takes ES256 only.`)
  const key = await keyOf(keySet, header.kid)
  const genuine = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, utf8(signed))
  if (!genuine) throw new Error('The ID token’s signature does not fit the published key.')

  const { issuer, clientId, nonce, now } = expected
  const audience = Array.isArray(claims.aud) ? claims.aud : [claims.aud]
  if (claims.iss !== issuer) throw new Error('The ID token’s iss is not this issuer.')
  if (!audience.includes(clientId)) throw new Error('The ID token is for another client.')
  if ((audience.length > 1 || claims.azp !== undefined) && claims.azp !== clientId) throw new Error('The ID token’s azp is another client.')
  if (typeof claims.exp !== 'number' || now / 1000 >= claims.exp + SKEW) throw new Error('The ID token has expired.')
  if (claims.nonce !== nonce) throw new Error('The ID token’s nonce is not the one this tab sent.')
  return claims
}

/** The claims of a JWT that is not ours to judge: an access token is for its resource, and shown here for the curious. */
export function readClaims(token: string): JsonObject {
  return parseJwt(token).claims
}

function parseJwt(token: string) {
  const [head = '', body = '', tail = '', ...more] = token.split('.')
  const header = parsePart(head)
  const claims = parsePart(body)
  const signature = decodeBase64url(tail)
  if (header === null || claims === null || signature === null || more.length > 0) throw new Error('The token is not a JWT.')
  return { header, claims, signed: `${head}.${body}`, signature }
}

function parsePart(part: string): JsonObject | null {
  const bytes = decodeBase64url(part)
  const text = bytes === null ? null : fromUtf8(bytes)
  try {
    return text === null ? null : objectOf(JSON.parse(text))
  } catch {
    return null
  }
}

function keyOf(keySet: JsonObject, kid: unknown): Promise<CryptoKey> {
  const keys = Array.isArray(keySet.keys) ? keySet.keys.map(objectOf) : []
  const found = keys.find((key) => key?.kid === kid && key?.kty === 'EC' && key?.crv === 'P-256')
  if (typeof kid !== 'string' || !found) throw new Error('The ID token is signed with a key the issuer does not publish.')
  const { x, y } = found
  if (typeof x !== 'string' || typeof y !== 'string') throw new Error('The issuer publishes a key that is no P-256 key.')
  return crypto.subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x, y }, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
}
