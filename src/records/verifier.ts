import * as z from 'zod'
import { decodeBase64url, encodeBase64url } from '../crypto/base64url.ts'
import { type Bytes, fromUtf8, utf8 } from '../crypto/bytes.ts'
import { rfc5054of2048 } from '../crypto/srp/group.ts'
import { toBytes } from '../crypto/srp/numbers.ts'
import { ITERATIONS, SALT_LENGTH } from '../crypto/srp/password.ts'
import { publicValue } from '../crypto/srp/srp.ts'

/** What the issuer knows of an account's password: enough to see it proved, and not enough to prove it. */
export interface Verifier {
  salt: Bytes
  v: bigint
}

const base64url = z.string().transform((text, context): Bytes => {
  const bytes = decodeBase64url(text)
  if (bytes !== null) return bytes
  context.addIssue({ code: 'custom' })
  return z.NEVER
})

/** Within (1, N): 0 and 1 are the verifiers of every password. */
const verifier = base64url.transform((bytes, context): bigint => {
  const value = publicValue(bytes, rfc5054of2048)
  if (value !== null && value !== 1n) return value
  context.addIssue({ code: 'custom' })
  return z.NEVER
})

/** The one way a verifier is made, spelled out, so that a document made another way is not taken for one. */
const MADE = { v: 1, group: 'rfc5054-2048', hash: 'SHA-256', kdf: 'PBKDF2-SHA-256', iterations: ITERATIONS } as const

const documentOfVerifier = z.strictObject({
  v: z.literal(MADE.v),
  group: z.literal(MADE.group),
  hash: z.literal(MADE.hash),
  kdf: z.literal(MADE.kdf),
  iterations: z.literal(MADE.iterations),
  salt: base64url.refine((salt) => salt.length === SALT_LENGTH),
  verifier,
})

/** A secret's bytes as the verifier of an account, or the names of what is wrong with them. */
export function readVerifier(value: Bytes): Verifier | { problem: string } {
  const parsed = documentOfVerifier.safeParse(parseJson(value))
  if (parsed.success) return { salt: parsed.data.salt, v: parsed.data.verifier }
  const fields = parsed.error.issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? ['another member'] : issue.path.map(String)))
  return { problem: [...new Set(fields)].join(' ') || 'it is no JSON object' }
}

/** As it is kept at an account's address (docs/design.md, "Sign-in"). */
export function writeVerifier({ salt, v }: Verifier): Bytes {
  const verifier = encodeBase64url(toBytes(v, rfc5054of2048.length))
  return utf8(JSON.stringify({ ...MADE, salt: encodeBase64url(salt), verifier }))
}

function parseJson(value: Bytes): unknown {
  try {
    return JSON.parse(fromUtf8(value) ?? '')
  } catch {
    return undefined
  }
}
