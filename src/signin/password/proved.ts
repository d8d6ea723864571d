import * as z from 'zod'
import { decodeBase64url, encodeBase64url } from '../../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import { isPortError } from '../../ports/error.ts'
import type { PasswordWay } from '../sign-in.ts'

/** That a password was proved: by which account, for which request, in which browser, when (unix seconds). */
const provedSchema = z.strictObject({
  account: z.enum(['recovery', 'conformance']),
  request: z.string(),
  browser: z.string(),
  at: z.int(),
})

export type Proved = z.output<typeof provedSchema>

const GOOD_FOR = 120 // s: the script sends it at once, and a person may have to send the form again while a store is away

/**
 * Sealed, for the browser to hand back. It is no record, for its one use is the request's: a completion takes that away, and completes it once.
 *
 * @throws PortError Unavailable
 */
export async function sealProved(proved: Proved, { sealer, instance }: PasswordWay): Promise<string> {
  return encodeBase64url(await sealer.seal(utf8(JSON.stringify(proved)), context(instance)))
}

/** Null for what this instance did not seal, or longer ago. @throws PortError Unavailable */
export async function openProved(text: string, now: number, { sealer, instance }: PasswordWay): Promise<Proved | null> {
  const sealed = decodeBase64url(text)
  if (sealed === null) return null
  try {
    const json = fromUtf8(await sealer.open(sealed, context(instance)))
    const proved = provedSchema.parse(JSON.parse(json ?? ''))
    return Math.abs(now - proved.at) < GOOD_FOR ? proved : null // either way: a clock may have been set back
  } catch (error) {
    if (isPortError(error, 'Unsupported')) return null
    throw error
  }
}

/** Another than an exchange's, so that neither is ever taken for the other. */
function context(instance: string) {
  return { instance, purpose: 'srp', step: 'proved' }
}
