import { PortError } from '../ports/error.ts'

/**
 * Marks an error class whose messages this repository writes, so that they may be logged: `readonly [ownMessage] = true`. A mark,
 * because telemetry may not import the rooms those classes live in.
 */
export const ownMessage = Symbol('sluis: the message is ours')

export interface ErrorDescription {
  readonly name: string
  readonly code?: string
  readonly message?: string
  /** Where it was thrown, innermost first: `worker.js:1234:5`. Of errors whose message is not ours. */
  readonly at?: readonly string[]
  /** The names (and codes of ours) of what caused it, outermost first. */
  readonly causes?: readonly string[]
}

/** links: a chain longer than this repeats itself */
const CAUSES = 5
/** frames: enough to find the call, few enough for one line */
const FRAMES = 5

/**
 * An error as a log line may hold it. Ours: name, code and message. Anyone else's: name and where it was thrown, because a
 * foreign message can quote the request, the record or the credential it failed on. Of the chain of causes, only the names.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { name: typeof error }
  const causes = causesOf(error)
  const chain = causes.length > 0 ? { causes } : {}
  if (!isOwn(error)) return { name: safeName(error), at: framesOf(error), ...chain }
  return { name: safeName(error), ...codeOf(error), message: withoutSecrets(error.message), ...chain }
}

function isOwn(error: Error): boolean {
  return error instanceof PortError || ownMessage in error
}

function codeOf(error: Error): { code?: string } {
  return isOwn(error) && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
}

function causesOf(error: Error): string[] {
  const causes: string[] = []
  let cause = error.cause
  while (cause instanceof Error && causes.length < CAUSES) {
    const { code } = codeOf(cause)
    causes.push(code === undefined ? safeName(cause) : `${safeName(cause)} ${code}`)
    cause = cause.cause
  }
  return causes
}

/** `name` is a property anyone can write to: what is no class name is not written. */
function safeName(error: Error): string {
  return /^[A-Za-z][A-Za-z0-9]{0,59}$/.test(error.name) ? error.name : 'Error'
}

/** File, line and column of each frame. The message, which a stack begins with, is cut off first, so that nothing in it passes as a frame. */
function framesOf(error: Error): string[] {
  const stack = typeof error.stack === 'string' ? error.stack : ''
  const at = error.message === '' ? 0 : stack.indexOf(error.message)
  if (at === -1) return []
  const frames = stack.slice(at + error.message.length).matchAll(/^\s+at .*?([\w.-]+\.[cm]?[jt]sx?:\d+:\d+)\)?$/gm)
  return [...frames].flatMap(([, frame]) => frame ?? []).slice(0, FRAMES)
}

/** The name of a variable or a Worker secret, such as `AWS_OIDC_SECRET_ACCESS_KEY`: words, and no random text looks like them. */
const VARIABLE = /^[A-Z]{2,12}(?:_[A-Z]{2,12})+$/

/**
 * Our messages name keys, and keys name people and hashes: whatever looks like an address, raw or in key spelling, or like 16 random
 * bytes or more, is cut out.
 */
function withoutSecrets(message: string): string {
  return message
    .replace(/[^\s'"`,;()]*(?:@|~40|%40)[^\s'"`,;()]*/gi, '[person]')
    .replace(/[A-Za-z0-9+/=_-]{22,}/g, (word) => (/[A-Z0-9]/.test(word) && !VARIABLE.test(word) ? '[redacted]' : word))
    .slice(0, 300)
}
