import { hex } from '../../crypto/bytes.ts'
import { sha256 } from '../../crypto/digest.ts'
import { PortError } from '../../ports/error.ts'
import type { S3Client } from './aws.ts'
import { bucketEndpoint } from './endpoint.ts'
import { withIdleLimit } from './idle-limit.ts'
import { readS3Refusal } from './refusal.ts'
import { type ClientOptions, signedFetch } from './signed-fetch.ts'

export interface S3ClientOptions extends ClientOptions {
  bucket: string
  /** ms of a body in which nothing comes before it is given up; a test's own. */
  idle?: number
}

/** ms: S3 sends spaces while it puts an upload together, and doesn't say how often */
const IDLE = 30_000

const NOTHING = new Uint8Array(0)

/**
 * A client of one bucket, for one set of credentials. Opening it asks nothing.
 *
 * Its calls throw PortError Unsupported, and send nothing, for a key no URL can carry: an empty one, one with a segment `.` or `..`, which every
 * fetch resolves away even when it is escaped, and one that is not well-formed text. And for a header that is not ASCII: its bytes are not the
 * same in every runtime, and aws4fetch signs some of them as spaces.
 *
 * A body outlives the attempt it is the answer of, so it has a limit of its own: one of which nothing comes for 30 s fails as Unavailable.
 */
export function s3Client(options: S3ClientOptions): S3Client {
  const root = bucketEndpoint(options.bucket, options.region, options.endpoint)
  const send = signedFetch('s3', options)
  const { idle = IDLE } = options

  return {
    async send({ method, key, query = {}, headers = {}, body, repeatable = true }) {
      if (Object.values(headers).some((value) => !/^[\t\x20-\x7e]*$/.test(value)))
        throw new PortError('Unsupported', 'a header of S3 that is not ASCII')
      return send({
        what: `s3 ${method}`,
        method,
        url: `${root}${key === undefined ? '' : encodeKey(key)}${encodeQuery(query)}`,
        // Of the body itself: signed as UNSIGNED-PAYLOAD, it could be changed on the way.
        headers: { ...headers, 'x-amz-content-sha256': hex(await sha256(body ?? NOTHING)) },
        body,
        repeatable,
        read: async (response) => withIdleLimit(response, idle, `s3 ${method}`),
        refusal: (response) => readS3Refusal(response, method),
      })
    },
  }
}

function encodeKey(key: string): string {
  const segments = key.split('/')
  if (key === '' || segments.includes('.') || segments.includes('..'))
    throw new PortError('Unsupported', 'a key of S3 that no URL can carry')
  return segments.map(encode).join('/')
}

/** Every name with its `=`, also one without a value: so it is signed. */
function encodeQuery(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** RFC 3986: all but letters, digits and `-._~`. A `+` left as it is would be signed as a space. */
function encode(text: string): string {
  if (!text.isWellFormed()) throw new PortError('Unsupported', 'text that is not well formed, in a request to S3')
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
