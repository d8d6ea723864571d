import { decodeBase64url, encodeBase64url } from '../../crypto/base64url.ts'
import type { Bytes } from '../../crypto/bytes.ts'
import { equalBytes } from '../../crypto/equal.ts'
import { rfc5054of2048 } from '../../crypto/srp/group.ts'
import { fromBytes } from '../../crypto/srp/numbers.ts'
import { ITERATIONS, passwordSecret, SALT_LENGTH } from '../../crypto/srp/password.ts'
import { clientProofs, clientPublic, pad, publicValue, SECRET_LENGTH, signInSrp } from '../../crypto/srp/srp.ts'

export interface Attempt {
  /** The pending request's id. */
  auth: string
  account: string
  password: string
}

/** What a person is told. Never a word of the password, or of what was computed from it. */
export class PasswordError extends Error {}

type Fetch = (path: string, init: RequestInit) => Promise<Response>

/**
 * Proves a password to the issuer and has the issuer prove that it knows the verifier: two calls, and neither holds the password or anything it
 * could be guessed from.
 *
 * @returns what `/login/recovery/complete` is sent
 * @throws PasswordError
 */
export async function prove({ auth, account, password }: Attempt, fetch: Fetch): Promise<string> {
  const a = fromBytes(crypto.getRandomValues(new Uint8Array(SECRET_LENGTH)))
  const A = clientPublic(a, signInSrp)
  const started = await post('/login/recovery/start', { auth, account, A: encodeBase64url(pad(A, rfc5054of2048)) }, fetch)
  const { handle, salt, B } = readStarted(started)

  const proofs = await clientProofs({ A, B, a, x: await passwordSecret(password, salt) }, signInSrp)
  if (proofs === null) throw unintelligible()
  const finished = await post('/login/recovery/finish', { handle, M1: encodeBase64url(proofs.M1) }, fetch)
  if (!equalBytes(bytesOf(finished, 'M2'), proofs.M2)) throw new PasswordError(IMPOSTOR)
  return textOf(finished, 'proof')
}

const IMPOSTOR =
  'This site could not show that it knows your password, so nothing was gone on with. Don’t type it here again; tell whoever runs this service.'

/** Fewer iterations than there are would make a password cheaper to guess: they are told, and not taken. */
function readStarted(answer: unknown): { handle: string; salt: Bytes; B: bigint } {
  const [handle, salt, B] = [textOf(answer, 'handle'), bytesOf(answer, 'salt'), publicValue(bytesOf(answer, 'B'), rfc5054of2048)]
  if (salt.length !== SALT_LENGTH || B === null || memberOf(answer, 'iterations') !== ITERATIONS) throw unintelligible()
  return { handle, salt, B }
}

async function post(path: string, fields: Record<string, string>, fetch: Fetch): Promise<unknown> {
  const headers = { accept: 'application/json' }
  const answer = await fetch(path, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'error' }).catch(() => {
    throw new PasswordError('The sign-in service could not be reached. Check your connection and try again.')
  })
  if (!answer.ok) throw refusal(answer)
  return answer.json().catch(() => {
    throw unintelligible()
  })
}

function refusal({ status, headers }: Response): PasswordError {
  const seconds = headers.get('retry-after')
  const wait = seconds === null || !/^[0-9]+$/.test(seconds) ? 'a little' : `${seconds} seconds`
  if (status === 403) return new PasswordError('That password was not accepted. Check it and try again.')
  if (status === 429) return new PasswordError(`Too many attempts in a short time. Wait ${wait} and try again.`)
  if (status === 400 || status === 404)
    return new PasswordError('This sign-in is not valid any more. Go back to the application and sign in again.')
  return new PasswordError(`The sign-in service can’t answer right now. Wait ${wait} and try again.`)
}

function unintelligible(): PasswordError {
  return new PasswordError('The sign-in service gave an answer that makes no sense. Reload this page and try again.')
}

function bytesOf(answer: unknown, name: string): Bytes {
  const bytes = decodeBase64url(textOf(answer, name))
  if (bytes === null) throw unintelligible()
  return bytes
}

function textOf(answer: unknown, name: string): string {
  const text = memberOf(answer, name)
  if (typeof text !== 'string') throw unintelligible()
  return text
}

function memberOf(answer: unknown, name: string): unknown {
  return typeof answer === 'object' && answer !== null ? Object.getOwnPropertyDescriptor(answer, name)?.value : undefined
}
