import * as z from 'zod'
import { NONCE_LENGTH, openAesGcm, sealAesGcm } from '../../crypto/aes-gcm.ts'
import { decodeBase64url, encodeBase64url } from '../../crypto/base64url.ts'
import { type Bytes, fromUtf8, utf8 } from '../../crypto/bytes.ts'
import { labelledDigest } from '../../crypto/digest.ts'
import { equalBytes } from '../../crypto/equal.ts'
import { hkdfSha256 } from '../../crypto/hkdf.ts'
import { clearCookie, readCookie, setCookie, upstreamCookie, upstreamCookieIds } from '../../http/cookies.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import type { UpstreamProvider } from './providers.ts'

/** s: to find the password manager and the second factor */
export const START_LIFETIME = 600
/** Sign-ins under way in one browser: about 4 KiB of cookies. A browser that opens its tabs of yesterday starts several at once. */
const MOST_STARTS = 10

const started = z.strictObject({
  /** The id of the request it is for. */
  request: z.string(),
  /** The hash of the browser it began in. */
  browser: z.string(),
  /** PKCE's (RFC 7636). */
  verifier: z.string(),
  nonce: z.string(),
  /** unix seconds */
  at: z.number(),
})

/** A sign-in on its way to a provider and back: what only its own browser holds, sealed. */
export type Started = z.output<typeof started>

/**
 * Seals a start into a cookie of its own. `state` is the digest of the cookie's value, so that it stands for this very start and is found by
 * whoever brings both; its first letters name the cookie (docs/decisions/0028-upstream-state.md).
 *
 * @returns `state` for the provider; the Set-Cookie headers: the start's, and those that make room for it
 * @throws PortError of the state secret
 */
export async function sealStart(
  start: Started,
  request: Request,
  provider: UpstreamProvider,
  issuer: Issuer,
): Promise<{ state: string; setCookies: string[] }> {
  const { key, aad } = await sealing(provider, issuer)
  const sealed = await sealAesGcm(key, issuer.random.bytes(NONCE_LENGTH), utf8(JSON.stringify(start)), aad)
  const value = encodeBase64url(sealed)
  const state = encodeBase64url(await stateOf(value))
  const before = upstreamCookieIds(request, issuer.url)
  const tooMany = before.slice(0, Math.max(before.length - MOST_STARTS + 1, 0))
  return {
    state,
    setCookies: [
      ...tooMany.map((id) => clearCookie(upstreamCookie(id, issuer.url))),
      setCookie(upstreamCookie(cookieId(state), issuer.url), value, { maxAge: START_LIFETIME }),
    ],
  }
}

/** The start that `state` stands for and this browser brings, with the header that takes its cookie away. Expired ones too: see `at`. */
export async function openStart(
  state: string | undefined,
  request: Request,
  provider: UpstreamProvider,
  issuer: Issuer,
): Promise<{ start: Started; clear: string } | null> {
  const digest = state === undefined ? null : decodeBase64url(state)
  if (state === undefined || digest === null) return null
  const cookie = upstreamCookie(cookieId(state), issuer.url)
  const value = readCookie(request, cookie)
  if (value === undefined || !equalBytes(await stateOf(value), digest)) return null
  const { key, aad } = await sealing(provider, issuer)
  const plaintext = await openAesGcm(key, decodeBase64url(value) ?? new Uint8Array(0), aad)
  const start = plaintext === null ? null : parse(plaintext)
  return start === null ? null : { start, clear: clearCookie(cookie) }
}

/** The state secret's own, so that no sign-in asks a key service; bound to the issuer and the provider. */
async function sealing(provider: UpstreamProvider, issuer: Issuer): Promise<{ key: Bytes; aad: Bytes }> {
  const key = await hkdfSha256(await provider.parts.stateSecret(), 'sluis/upstream/v1', 32)
  return { key, aad: utf8(JSON.stringify({ issuer: issuer.url, provider: provider.id, purpose: 'upstream' })) }
}

function stateOf(value: string): Promise<Bytes> {
  return labelledDigest('sluis upstream state v1', value)
}

function cookieId(state: string): string {
  return state.slice(0, 12)
}

function parse(plaintext: Bytes): Started | null {
  const parsed = started.safeParse(JSON.parse(fromUtf8(plaintext) ?? 'null'))
  return parsed.success ? parsed.data : null
}
