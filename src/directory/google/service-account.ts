import { importPKCS8, SignJWT } from 'jose'
import * as z from 'zod'
import type { Clock } from '../../ports/platform.ts'
import { ownMessage } from '../../telemetry/describe-error.ts'
import type { Endpoints } from './endpoints.ts'

/** What a directory is read with, and never a fifth: the customer's id comes from the admin's own account. */
export const SCOPES = [
  'https://www.googleapis.com/auth/admin.directory.user.readonly',
  'https://www.googleapis.com/auth/admin.directory.group.readonly',
  'https://www.googleapis.com/auth/admin.directory.group.member.readonly',
  'https://www.googleapis.com/auth/admin.directory.domain.readonly',
] as const

/** A service account's key, as its JSON file has it. */
export interface ServiceAccount {
  email: string
  keyId: string
  /** PKCS #8 in PEM. */
  privateKey: string
}

/** A key file that can't be used. Says which field, and never what it holds. */
export class KeyError extends Error {
  override readonly name = 'KeyError'
  readonly [ownMessage] = true
}

const file = z.object({
  // `external_account` and the like name programs and addresses of their own to fetch tokens from
  type: z.literal('service_account', 'is not service_account, the one kind of credential that is taken'),
  client_email: z.email('is not the address of a service account'),
  private_key_id: z.string('is missing').min(1, 'is empty'),
  private_key: z.string('is missing').startsWith('-----BEGIN PRIVATE KEY-----', 'is not a private key in PEM (PKCS #8)'),
  token_uri: z.string('is missing'),
})

/**
 * The key file of a service account.
 *
 * @throws KeyError naming the field
 */
export async function parseServiceAccount(text: string, endpoints: Endpoints): Promise<ServiceAccount> {
  const read = file.safeParse(parseJson(text))
  if (!read.success) {
    const [issue] = read.error.issues
    throw new KeyError(
      `the key file: ${issue?.path.join('.') || 'it'} ${issue?.path.length ? issue.message : 'is not the JSON of a service account'}`,
    )
  }
  const { client_email: email, private_key_id: keyId, private_key: privateKey, token_uri } = read.data
  // The assertion is a credential: it goes to Google, wherever the file points.
  if (token_uri !== endpoints.token) throw new KeyError(`the key file: token_uri is not ${endpoints.token}`)
  await importKey(privateKey)
  return { email, keyId, privateKey }
}

/** The assertion that the token endpoint takes for an access token, as the admin (RFC 7523 section 2.1). */
export async function signAssertion(account: ServiceAccount, admin: string, audience: string, clock: Clock): Promise<string> {
  const now = Math.floor(clock.now() / 1_000)
  return new SignJWT({ scope: SCOPES.join(' ') })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: account.keyId })
    .setIssuer(account.email)
    .setSubject(admin)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION)
    .sign(await importKey(account.privateKey))
}

const ASSERTION = 300 // s: it is used once, at once; Google takes up to an hour

async function importKey(pem: string): Promise<CryptoKey> {
  try {
    return await importPKCS8(pem, 'RS256')
  } catch {
    throw new KeyError('the key file: private_key is no RSA key')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
