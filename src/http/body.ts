import { type Bytes, concat, fromUtf8 } from '../crypto/bytes.ts'
import { invalidRequest } from './oauth-error.ts'
import { type ParameterRules, type Parameters, parseParameters } from './parameters.ts'

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** bytes: two parameters at their own limit; every flow's form is far smaller */
export const FORM_LIMIT = 16_384
/** bytes: a whole seed of a small installation in one operator call */
export const JSON_LIMIT = 65_536

/** True when the request says its body is a form, whatever its charset. */
export function isForm(request: Request): boolean {
  return contentType(request).type === FORM
}

/**
 * The parameters of a form body, read once.
 *
 * @throws OAuthError invalid_request: 400 for another content type or charset or malformed parameters, 413 over the limit (bytes)
 */
export async function readForm(request: Request, options: ParameterRules & { readonly limit?: number } = {}): Promise<Parameters> {
  const text = await readText(request, FORM, options.limit ?? FORM_LIMIT)
  return parseParameters(text, options)
}

/**
 * A JSON body, parsed but not trusted: what comes back goes through a schema.
 *
 * @throws OAuthError invalid_request: 400 for another content type or malformed JSON, 413 over the limit (bytes)
 */
export async function readJson(request: Request, options: { readonly limit?: number } = {}): Promise<unknown> {
  const text = await readText(request, JSON_TYPE, options.limit ?? JSON_LIMIT)
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest('the body is not JSON')
  }
}

/**
 * A body of at most `limit` bytes, for what is signed over its bytes. One that declares its length is held to it by HTTP itself (RFC 9112
 * section 6.2, RFC 9113 section 8.1.1) and read in one go; any other is counted as it arrives.
 *
 * @throws OAuthError invalid_request: 413 over the limit, 400 when the body breaks off
 */
export async function readBytes(request: Request, limit: number): Promise<Bytes> {
  if (request.body === null) return new Uint8Array(0)
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > limit) throw tooLarge(limit)
  if (Number.isNaN(declared)) return readCounting(request.body, limit)
  const bytes = new Uint8Array(await request.arrayBuffer().catch(brokeOff))
  if (bytes.length > limit) throw tooLarge(limit)
  return bytes
}

async function readCounting(body: ReadableStream<Bytes>, limit: number): Promise<Bytes> {
  const reader = body.getReader()
  const parts: Bytes[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read().catch(brokeOff)
    if (done) return concat(...parts)
    length += value.length
    if (length > limit) {
      await reader.cancel().catch(() => undefined)
      throw tooLarge(limit)
    }
    parts.push(value)
  }
}

function brokeOff(): never {
  throw invalidRequest('the body broke off')
}

async function readText(request: Request, expected: string, limit: number): Promise<string> {
  const { type, charset } = contentType(request)
  if (type !== expected) throw invalidRequest(`the content type must be ${expected}`)
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') throw invalidRequest('the charset must be utf-8')
  const text = fromUtf8(await readBytes(request, limit))
  if (text === null) throw invalidRequest('the body is not UTF-8')
  return text
}

/** RFC 9110 section 8.3: type and parameter names in any case, a parameter's value bare or quoted. */
function contentType(request: Request): { type: string; charset: string | undefined } {
  const [type = '', ...parameters] = (request.headers.get('content-type') ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  return { type: type.trim(), charset: charset?.slice('charset='.length).replace(/^"(.*)"$/, '$1') }
}

function tooLarge(limit: number) {
  return invalidRequest(`the body is larger than ${limit} bytes`, { status: 413 })
}
