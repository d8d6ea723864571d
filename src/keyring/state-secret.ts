import { decodeBase64, encodeBase64 } from '../crypto/base64url.ts'
import { type Bytes, fromUtf8, hex, utf8 } from '../crypto/bytes.ts'
import { hmacSha256 } from '../crypto/digest.ts'
import { isPortError, PortError } from '../ports/error.ts'
import { keys, secretAddress } from '../ports/keys.ts'
import type { Random } from '../ports/platform.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Entry, State } from '../ports/state.ts'
import { renewRecords } from '../records/renew.ts'

const LENGTH = 32 // bytes (seed: storage-layout)
const FINGERPRINT_LIFETIME = 365 * 86_400 // s
const RENEW_UNDER = 300 * 86_400 // s: rewritten every couple of months, and not with every start

/**
 * What the fingerprint in State says of the state secret: `same` since it was first seen; `changed`: sign-ins under way are lost, and
 * somebody should know; `foreign`: another implementation wrote it, and it is left as it is.
 */
export type StateSecretGuard = 'same' | 'changed' | 'foreign'

export interface StateSecretParts {
  secrets: Secrets
  state: State
  random: Random
  /** Whether one may be made where there is none; on AWS the operator seeds it. */
  create: boolean
}

/**
 * The state secret: 32 bytes that derived keys come from, the same for the whole life of an instance. Made by the first start that finds none.
 *
 * @throws PortError NotFound when there is none and none may be made; Unavailable when it can't be read or is no 32 bytes in base64
 */
export async function stateSecret(parts: Pick<StateSecretParts, 'secrets' | 'random' | 'create'>): Promise<Bytes> {
  const { secrets, random, create } = parts
  try {
    return decoded((await secrets.get(secretAddress.stateSecret)).value)
  } catch (error) {
    if (!isPortError(error, 'NotFound')) throw error
    if (!create)
      throw new PortError('NotFound', 'no state secret at internal/oidc/state-secret: npm run seed -- --state-secret makes it', {
        cause: error,
      })
  }
  try {
    const fresh = random.bytes(LENGTH)
    await secrets.putIfVersion(secretAddress.stateSecret, utf8(encodeBase64(fresh)), null)
    return fresh
  } catch (error) {
    if (!isPortError(error, 'Conflict')) throw error
    return decoded((await secrets.get(secretAddress.stateSecret)).value)
  }
}

/** Compares the state secret with the fingerprint kept of it, and keeps one where there is none: `v1:` and the hex of an HMAC under it. */
async function compareStateSecret(parts: StateSecretParts): Promise<StateSecretGuard> {
  const { fingerprint, kept } = await look(parts)
  return kept === null ? keep(fingerprint, parts) : judge(kept.value, fingerprint)
}

/** Compares and writes nothing: `none` where a first start has yet to make the secret, or to keep a fingerprint of it. @throws PortError Unavailable */
export async function lookAtStateSecret(parts: StateSecretParts): Promise<StateSecretGuard | 'none'> {
  try {
    const { fingerprint, kept } = await look({ ...parts, create: false })
    return kept === null ? 'none' : judge(kept.value, fingerprint)
  } catch (error) {
    if (isPortError(error, 'NotFound')) return 'none'
    throw error
  }
}

/** Compares, and keeps a fingerprint that fits from lapsing. */
export async function guardStateSecret(parts: StateSecretParts): Promise<StateSecretGuard> {
  const says = await compareStateSecret(parts)
  if (says === 'same') await renewRecords(parts.state, keys.stateSecretFingerprint, { lifetime: FINGERPRINT_LIFETIME, under: RENEW_UNDER })
  return says
}

/**
 * Makes the present state secret the instance's: a fingerprint of another goes, and one of it is kept. What was derived from the earlier secret
 * is lost. Anything but `changed` stays as it is.
 *
 * @returns what was found before
 * @throws PortError as stateSecret
 */
export async function acceptStateSecret(parts: StateSecretParts): Promise<StateSecretGuard> {
  const { state } = parts
  const { fingerprint, kept } = await look(parts)
  if (kept === null) return keep(fingerprint, parts)
  const found = judge(kept.value, fingerprint)
  if (found !== 'changed') return found
  try {
    await state.update(keys.stateSecretFingerprint, utf8(fingerprint), FINGERPRINT_LIFETIME, kept.rev)
    return found
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return acceptStateSecret(parts) // somebody else accepts one at the same time
    throw error
  }
}

/** The fingerprint of the present secret, and what is kept of one; read together. Where neither can be read, the secret's reason is given. */
async function look(parts: StateSecretParts): Promise<{ fingerprint: string; kept: Entry | null }> {
  const [secret, kept] = await Promise.allSettled([stateSecret(parts), parts.state.get(keys.stateSecretFingerprint)])
  if (secret.status === 'rejected') throw secret.reason
  if (kept.status === 'rejected') throw kept.reason
  return { fingerprint: `v1:${hex(await hmacSha256(secret.value, utf8('sluis state secret v1')))}`, kept: kept.value }
}

function judge(kept: Bytes, fingerprint: string): StateSecretGuard {
  const text = fromUtf8(kept) ?? ''
  if (!text.startsWith('v1:')) return 'foreign'
  return text === fingerprint ? 'same' : 'changed'
}

/** The first to start decides; a start that lost compares with what won. */
async function keep(fingerprint: string, parts: StateSecretParts): Promise<StateSecretGuard> {
  try {
    await parts.state.create(keys.stateSecretFingerprint, utf8(fingerprint), FINGERPRINT_LIFETIME)
    return 'same'
  } catch (error) {
    if (isPortError(error, 'Exists')) return compareStateSecret(parts)
    throw error
  }
}

function decoded(value: Bytes): Bytes {
  const bytes = decodeBase64((fromUtf8(value) ?? '').trim())
  if (bytes?.length !== LENGTH)
    throw new PortError('Unavailable', `the state secret at ${secretAddress.stateSecret} is not ${LENGTH} bytes in base64`)
  return bytes
}
