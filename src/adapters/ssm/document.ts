import { decodeBase64, encodeBase64 } from '../../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import { PortError } from '../../ports/error.ts'
import type { Bytes } from '../../ports/platform.ts'

/**
 * A secret as the text of its parameter (seed: storage-layout, SSM, "Value"). A typed document stands as it is, byte for byte;
 * every other value as `{"value":"<standard base64>"}`.
 *
 * @param parameter its whole name, whose place says which of the two it is
 * @throws PortError Unsupported: no JSON object, where only a typed document may stand
 */
export function encodeDocument(parameter: string, value: Bytes): string {
  const text = fromUtf8(value)
  const object = text === null ? null : jsonObject(text)
  if (text !== null && object !== null && isTyped(parameter, object)) return text
  if (holdsTyped(parameter)) throw new PortError('Unsupported', `parameter ${parameter} holds a document: the value must be a JSON object`)
  return JSON.stringify({ value: encodeBase64(value) })
}

/**
 * The secret in a parameter's text, whoever wrote it.
 *
 * @throws PortError Unavailable: it holds neither form. The message names the parameter and what is expected, and nothing of the text:
 * it has no cause, because a parser's own words quote what it read
 */
export function decodeDocument(parameter: string, text: string): Bytes {
  const object = jsonObject(text)
  if (object !== null && isTyped(parameter, object)) return utf8(text)
  const value = object !== null && typeof object.value === 'string' ? decodeBase64(object.value) : null
  if (value !== null) return value
  const expected = holdsTyped(parameter) ? 'a JSON object' : '{"value":"<standard base64 of the secret>"}'
  throw new PortError('Unavailable', `parameter ${parameter} does not hold ${expected}: write it again with npm run seed`)
}

/** Below the root: documents that consumers read, an account's minter, the records of what was minted. */
const typedPlaces = [/^external\//, /^internal\/cloudflare\/[^/]+\/minter$/, /^internal\/cloudflare\/minted\/[^/]+$/]

function holdsTyped(parameter: string): boolean {
  const belowRoot = parameter.split('/').slice(3).join('/') // of `/sluis/<instance>/...`
  return typedPlaces.some((place) => place.test(belowRoot))
}

/** Static S3 credentials may stand at any name of the module that reads them, so only what they say of themselves tells them. */
function isTyped(parameter: string, object: Readonly<Record<string, unknown>>): boolean {
  return holdsTyped(parameter) || object.schema === 's3-credentials/v1'
}

function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
