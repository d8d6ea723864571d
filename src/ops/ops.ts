import { decodeBase64url } from '../crypto/base64url.ts'
import { type Bytes, fromUtf8, hex, utf8 } from '../crypto/bytes.ts'
import { hmacSha256, sha256 } from '../crypto/digest.ts'
import { equalBytes } from '../crypto/equal.ts'
import { JSON_LIMIT, readBytes } from '../http/body.ts'
import { notFound, Refusal } from '../http/refusal.ts'
import { json } from '../http/respond.ts'
import { isPortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { SealAnswer } from './client-secrets.ts'
import { type Commanded, runCommand } from './commands.ts'
import { sealForOperator } from './sealed-answer.ts'

/** What the operator's route works with. Built by compose. */
export interface Operations extends Omit<Commanded, 'sealAnswer'> {
  instance: string
  /** The key requests are signed with, 32 bytes; null: the route is absent. */
  key: Bytes | null
}

const WINDOW = 60 // s: an operator's clock and ours, and the way between
const NONCE_LIFETIME = 120 // s: a signature is good for less than that, whichever side of the window it comes in by

/**
 * `POST /ops`: one signed command, once. Signature and headers: docs/operate.md, "The operator's route". No answer holds a secret in the clear.
 *
 * @throws Refusal 404 without a key, 401 unsigned, 409 a second time, 400 no such command. PortError Unavailable
 */
export async function ops(request: Request, operations: Operations): Promise<Response> {
  const { key, state } = operations
  if (key === null) throw notFound()
  const body = await readBytes(request, JSON_LIMIT)
  const nonce = await signedNonce(request, body, key, operations)
  try {
    await state.create(keys.opsNonce(nonce), new Uint8Array(0), NONCE_LIFETIME)
  } catch (error) {
    if (isPortError(error, 'Exists'))
      throw refusal(409, 'nonce_used', 'This request was carried out before.', 'Sign a new one with a nonce of its own.')
    throw error
  }
  const { instance, random } = operations
  const sealAnswer: SealAnswer = (plaintext) => sealForOperator(plaintext, { key, instance, nonce }, random)
  return json(await runCommand(parsed(body), { ...operations, sealAnswer }))
}

/** The nonce of a request whose signature is right and whose time is now. */
async function signedNonce(request: Request, body: Bytes, key: Bytes, { instance, clock }: Operations): Promise<string> {
  const time = request.headers.get('sluis-time') ?? ''
  const nonce = request.headers.get('sluis-nonce') ?? ''
  const signature = request.headers.get('sluis-signature') ?? ''
  const message = ['sluis-ops-v1', instance, 'POST', '/ops', time, nonce, hex(await sha256(body))].join('\n')
  const expected = utf8(hex(await hmacSha256(key, utf8(message))))
  if (!equalBytes(expected, utf8(signature))) throw unsigned('The signature is missing or wrong.')
  if (!/^[0-9]{1,12}$/.test(time) || Math.abs(clock.now() / 1000 - Number(time)) >= WINDOW)
    throw unsigned('sluis-time is 60 s or more from now.')
  if (decodeBase64url(nonce)?.length !== 16) throw unsigned('sluis-nonce is not 16 bytes in base64url.')
  return nonce
}

function parsed(body: Bytes): unknown {
  try {
    return JSON.parse(fromUtf8(body) ?? '')
  } catch {
    throw refusal(400, 'invalid_request', 'The body is not JSON.', 'Send one command as a JSON object.')
  }
}

function unsigned(description: string): Refusal {
  return refusal(401, 'unauthorized', description, 'Check OPS_KEY, the instance and the clock of the machine that signs.')
}

function refusal(status: number, code: string, description: string, advice: string): Refusal {
  return new Refusal(status, { code, description, title: 'Not carried out', advice })
}
