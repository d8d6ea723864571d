import type { Bytes } from '../../crypto/bytes.ts'
import { hkdfSha256 } from '../../crypto/hkdf.ts'
import { rfc5054of2048 } from '../../crypto/srp/group.ts'
import { fromBytes } from '../../crypto/srp/numbers.ts'
import { SALT_LENGTH } from '../../crypto/srp/password.ts'
import { notFound } from '../../http/refusal.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { isPortError, PortError } from '../../ports/error.ts'
import { secretAddress } from '../../ports/keys.ts'
import { readVerifier, type Verifier } from '../../records/verifier.ts'
import type { PasswordAccount, PasswordWay, WaysIn } from '../sign-in.ts'

const ADDRESS: { readonly [account in PasswordAccount]: string } = {
  recovery: secretAddress.recoveryVerifier,
  conformance: secretAddress.conformanceVerifier,
}

/** @throws Refusal 404: no account has a password here */
export function passwordWay({ password }: Pick<WaysIn, 'password'>): PasswordWay {
  if (password === null) throw notFound()
  return password
}

/** The account of that name that may sign in now, or null. @throws PortError Unavailable */
export async function openAccount(name: string, way: PasswordWay): Promise<PasswordAccount | null> {
  const account = way.accounts.find((known) => known === name)
  if (account === undefined) return null
  return account === 'recovery' && (await way.isRecoveryOff()) ? null : account
}

/**
 * What a password of that name is proved against. Whoever asks can't tell an account there is not, or none any more, from one whose password
 * they don't know: it has a salt and a verifier too, the same every time, that no password fits; and both are looked for in either case.
 *
 * @throws PortError Unavailable
 */
export async function verifierOf(name: string, issuer: Issuer, way: PasswordWay): Promise<Verifier> {
  const [account, kept, nobodys] = await Promise.allSettled([
    openAccount(name, way),
    findVerifier(way.accounts.find((known) => known === name) ?? 'recovery', issuer),
    verifierOfNobody(name, way),
  ])
  if (account.status === 'rejected') throw account.reason
  if (kept.status === 'rejected') throw kept.reason
  if (account.value !== null && kept.value !== null) return kept.value
  if (nobodys.status === 'rejected') throw nobodys.reason
  return nobodys.value
}

/** One that can't be read is as good as none: nobody can sign in with it, and it takes an operator to put another. */
async function findVerifier(account: PasswordAccount, { secrets, log }: Issuer): Promise<Verifier | null> {
  const value = await secretAt(ADDRESS[account], { secrets })
  const verifier = value === null ? null : readVerifier(value)
  if (verifier === null || !('problem' in verifier)) return verifier
  log.error('signin.verifier_unreadable', { kind: account, reason: verifier.problem })
  return null
}

async function secretAt(address: string, { secrets }: Pick<Issuer, 'secrets'>): Promise<Bytes | null> {
  try {
    return (await secrets.get(address)).value
  } catch (error) {
    if (isPortError(error, 'NotFound')) return null
    throw error
  }
}

/** Drawn, and no power of g by an exponent anybody knows: making one would take a millisecond that an account's own doesn't. */
async function verifierOfNobody(name: string, way: PasswordWay): Promise<Verifier> {
  const { N, length } = rfc5054of2048
  const secret = await way.stateSecret().catch((cause: unknown) => {
    throw isPortError(cause, 'NotFound') ? new PortError('Unavailable', 'there is no state secret', { cause }) : cause
  })
  const drawn = await hkdfSha256(secret, `sluis srp nobody v1\0${name}`, SALT_LENGTH + length)
  return { salt: drawn.slice(0, SALT_LENGTH), v: fromBytes(drawn.slice(SALT_LENGTH)) % N }
}
