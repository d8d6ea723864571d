import { decodeBase64url, encodeBase64url } from '../src/crypto/base64url.ts'
import { type Bytes, fromUtf8, hex, utf8 } from '../src/crypto/bytes.ts'
import { hmacSha256, sha256 } from '../src/crypto/digest.ts'
import type { ClientCommand } from '../src/ops/client-secrets.ts'
import type { MaintenanceCommand } from '../src/ops/maintenance.ts'
import type { RecoveryCommand } from '../src/ops/recovery.ts'
import type { ResealCommand } from '../src/ops/reseal.ts'
import { type AnswerOf, openAnswer } from '../src/ops/sealed-answer.ts'
import type { StateSecretCommand } from '../src/ops/state-secret.ts'
import type { WorkspaceCommand } from '../src/ops/workspaces.ts'

/** Where an installation's operator route is, and what proves that we may use it. */
export interface OpsTarget {
  /** Its origin. */
  issuer: string
  instance: string
  /** The Worker secret `OPS_KEY`: base64url of 32 bytes. */
  opsKey: string
}

/** What the route is asked to do. */
export type OpsCommand =
  | { command: 'secret.put'; path: string; value: Bytes }
  | { command: 'secret.list'; prefix: string }
  | { command: 'tick.run'; kind: string; target: string }
  | ClientCommand
  | MaintenanceCommand
  | RecoveryCommand
  | ResealCommand
  | StateSecretCommand
  | WorkspaceCommand

/** A refusal of the operator route: `code` is its `error` member, or `unreachable` when nobody answered as it would. */
export class OpsError extends Error {
  override readonly name = 'OpsError'
  readonly code: string
  /** The HTTP status, 0 when there was no answer. */
  readonly status: number

  constructor(code: string, status: number, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    this.status = status
  }
}

/** Clock, randomness and network of a call, for tests. */
export interface OpsDependencies {
  now: () => number
  random: (length: number) => Bytes
  fetch: (url: string, init: RequestInit) => Promise<Response>
}

const REAL: OpsDependencies = {
  now: Date.now,
  random: (length) => crypto.getRandomValues(new Uint8Array(length)),
  fetch: (url, init) => fetch(url, init),
}

const TIMEOUT = 15_000 // ms: a store that takes longer is down

/**
 * Asks `POST /ops` of a running issuer for one command, signed and for one use (docs/operate.md, "The operator's route").
 *
 * @returns the members of its answer; what it sealed for us stands as `opened`, in the clear
 * @throws OpsError
 */
export async function callOps(target: OpsTarget, command: OpsCommand, with_: OpsDependencies = REAL): Promise<Record<string, unknown>> {
  const body = JSON.stringify('value' in command ? { ...command, value: encodeBase64url(command.value) } : command)
  const { key, nonce, headers: signed } = await signature(target, body, with_)
  const headers = { 'content-type': 'application/json', ...signed }
  const url = `${target.issuer}/ops`
  const response = await with_
    .fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT) })
    .catch((cause: unknown) => {
      throw new OpsError('unreachable', 0, `${url} could not be reached`, { cause })
    })
  const answer = membersOf(await response.json().catch(() => null))
  if (response.ok && answer.ok === true) {
    if (typeof answer.sealed !== 'string') return answer
    const { sealed, ...others } = answer
    return { ...others, opened: await opened(sealed, { key, nonce, instance: target.instance }, url) }
  }
  if (typeof answer.error !== 'string')
    throw new OpsError('unreachable', response.status, `${url} answered ${response.status}, which is not how it answers`)
  throw new OpsError(answer.error, response.status, `${answer.error}: ${answer.error_description ?? `status ${response.status}`}`)
}

async function opened(sealed: string, of: AnswerOf, url: string): Promise<string> {
  const plaintext = await openAnswer(sealed, of)
  const text = plaintext && fromUtf8(plaintext)
  if (text === null)
    throw new OpsError('unreachable', 200, `${url} sealed its answer under another key than OPS_KEY: nothing of it is shown`)
  return text
}

interface Signed {
  key: Bytes
  nonce: string
  headers: Record<string, string>
}

async function signature({ instance, opsKey }: OpsTarget, body: string, { now, random }: OpsDependencies): Promise<Signed> {
  const key = decodeBase64url(opsKey)
  if (key?.length !== 32) throw new OpsError('bad_key', 0, 'OPS_KEY is not base64url of 32 bytes')
  const time = String(Math.floor(now() / 1000))
  const nonce = encodeBase64url(random(16))
  const lines = ['sluis-ops-v1', instance, 'POST', '/ops', time, nonce, hex(await sha256(utf8(body)))]
  const headers = { 'sluis-time': time, 'sluis-nonce': nonce, 'sluis-signature': hex(await hmacSha256(key, utf8(lines.join('\n')))) }
  return { key, nonce, headers }
}

function membersOf(answer: unknown): Record<string, unknown> {
  return typeof answer === 'object' && answer !== null ? { ...answer } : {}
}
