import { NONCE_LENGTH, openAesGcm, sealAesGcm } from '../crypto/aes-gcm.ts'
import { decodeBase64url, encodeBase64url } from '../crypto/base64url.ts'
import { type Bytes, fromUtf8, utf8 } from '../crypto/bytes.ts'
import { labelledDigest } from '../crypto/digest.ts'
import type { Random } from '../ports/platform.ts'

/** What a spent refresh token's own key says: when, by what, of which session. */
export interface SpentMark {
  /** unix ms */
  at: number
  /** The token that took its place. */
  successor: string
  sid: string
}

/**
 * `spent:<unix ms>:<sealed successor>:<session id>` (seed: keys). The successor is sealed with AES-256-GCM under a key only the spent
 * token gives, and time and session are authenticated with it: who reads the store learns no token, and who writes it can move neither.
 */
export async function writeSpentMark(spent: string, { at, successor, sid }: SpentMark, random: Random): Promise<Bytes> {
  const sealed = await sealAesGcm(await keyOf(spent), random.bytes(NONCE_LENGTH), utf8(successor), utf8(`${at}:${sid}`))
  return utf8(`spent:${at}:${encodeBase64url(sealed)}:${sid}`)
}

/** True for text that says it is a spent mark, whole or not. */
export function isSpentMark(text: string): boolean {
  return text.startsWith('spent:')
}

/** The mark, or null when it is malformed or was not made for this token: then it says nothing, and ends nothing. */
export async function openSpentMark(spent: string, text: string): Promise<SpentMark | null> {
  const [, at = '', sealed = '', sid = ''] = /^spent:([0-9]{1,15}):([^:]+):([^:]+)$/.exec(text) ?? []
  const bytes = sealed === '' ? null : decodeBase64url(sealed)
  const opened = bytes === null ? null : await openAesGcm(await keyOf(spent), bytes, utf8(`${at}:${sid}`))
  const successor = opened === null ? null : fromUtf8(opened)
  return successor === null || successor === '' ? null : { at: Number(at), successor, sid }
}

function keyOf(spent: string): Promise<Bytes> {
  return labelledDigest('sluis/issuer/spent-successor/v1', spent)
}
