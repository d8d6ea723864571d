import { fromUtf8 } from '../../crypto/bytes.ts'
import { readCapped } from './read-capped.ts'

/** What an answer that is no 2xx says. */
export interface Refusal {
  /** The service's name for it, such as `ThrottlingException`; `HTTP 502` when the answer names nothing. */
  type: string
  /** The service's own words. They quote what was signed, session tokens included: to be read by code, never put into a message. */
  words: string
  /** HTTP. */
  status: number
  /** The JSON answer; empty for S3. */
  body: Record<string, unknown>
  /** The service's clock, unix milliseconds; null when the answer has no date. */
  date: number | null
}

/** bytes: a failed condition answers with the item that failed it, at most 400 KB, a third more in base64 */
const JSON_CAP = 1024 * 1024
/** bytes: an error of S3 is some hundred, a page of a proxy some thousand */
const XML_CAP = 64 * 1024

/** What a service of the JSON protocol says: `__type` in the body, else the header `x-amzn-errortype`. */
export async function readJsonRefusal(response: Response): Promise<Refusal> {
  const body = jsonObject(await readText(response, JSON_CAP)) ?? {}
  return {
    type: typeName(body.__type) ?? typeName(response.headers.get('x-amzn-errortype')) ?? `HTTP ${response.status}`,
    words: [body.message, body.Message].find((text) => typeof text === 'string') ?? '',
    status: response.status,
    body,
    date: dateOf(response),
  }
}

/** What S3 says: `<Code>` in the body; of an answer that never has one, what the status means there. */
export async function readS3Refusal(response: Response, method: string): Promise<Refusal> {
  const text = (await readText(response, XML_CAP)) ?? ''
  const bodyless = method === 'HEAD' || response.status === 304
  return {
    type: s3ErrorCode(text) ?? (bodyless ? BODYLESS[response.status] : undefined) ?? `HTTP ${response.status}`,
    words: /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? '',
    status: response.status,
    body: {},
    date: dateOf(response),
  }
}

/** The `<Code>` of an `<Error>` document; null for any other text. */
function s3ErrorCode(xml: string): string | null {
  return /<Error(?:\s[^>]*)?>/.test(xml) ? typeName(/<Code>([^<]*)<\/Code>/.exec(xml)?.[1]) : null
}

/** S3's names for what HEAD can be answered with. A 404 of any other method has a body that tells a missing key from a missing bucket. */
const BODYLESS: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  304: 'NotModified',
  307: 'TemporaryRedirect',
  403: 'AccessDenied',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  412: 'PreconditionFailed',
  416: 'InvalidRange',
}

/** The object a JSON text holds; null when it is none. */
export function jsonObject(text: string | null): Record<string, unknown> | null {
  if (text === null) return null
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** `com.amazonaws.dynamodb.v20120810#Name`, `Name:http://...` and `Name`, as `Name`. What is no name is dropped: it will stand in messages. */
function typeName(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const name = text.replace(/:.*$/, '').replace(/^.*#/, '').trim()
  return /^[A-Za-z][A-Za-z0-9_.]{0,99}$/.test(name) ? name : null
}

/** Null when the body is longer than the cap, or no UTF-8. */
async function readText(response: Response, cap: number): Promise<string | null> {
  const bytes = await readCapped(response, cap)
  return bytes === null ? null : fromUtf8(bytes)
}

function dateOf(response: Response): number | null {
  const date = Date.parse(response.headers.get('date') ?? '')
  return Number.isNaN(date) ? null : date
}
