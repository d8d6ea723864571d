import { decodeBase64url, encodeBase64url } from '../crypto/base64url.ts'
import { labelledDigestHex, type Sha256Hex } from '../crypto/digest.ts'
import type { Random } from '../ports/platform.ts'
import { browserCookie, readCookie, setCookie } from './cookies.ts'

/** bytes: a browser's cookie is a bearer value, so as long as a token's */
const COOKIE_BYTES = 32

export interface Browser {
  /** What a request keeps of the browser it began in. */
  readonly hash: Sha256Hex
  /** The Set-Cookie header to answer with; absent when the browser has its cookie already. */
  readonly setCookie?: string
}

/** The browser that asks, given a cookie when it has none or one we didn't make. One it has is kept: other tabs are under way with it. */
export async function knowBrowser(request: Request, issuer: string, random: Random): Promise<Browser> {
  const hash = await browserHash(request, issuer)
  if (hash !== undefined) return { hash }
  const value = encodeBase64url(random.bytes(COOKIE_BYTES))
  return { hash: await hashOf(value), setCookie: setCookie(browserCookie(issuer), value) }
}

/** The hash of the asking browser, or undefined when it has no cookie of ours: then it began none of our requests. */
export async function browserHash(request: Request, issuer: string): Promise<Sha256Hex | undefined> {
  const value = readCookie(request, browserCookie(issuer))
  if (value === undefined || value.length !== 43 || decodeBase64url(value) === null) return undefined
  return hashOf(value)
}

/** hex SHA-256(`sluis browser v1` NUL value) */
function hashOf(value: string): Promise<Sha256Hex> {
  return labelledDigestHex('sluis browser v1', value)
}
