import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { type Received, Refusal, type Service } from './call.ts'
import type { Credential } from './credentials.ts'

import { type SignedAt, type Words, wordsOf } from './signature-words.ts'

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** How far a request's clock may be off, in ms: S3 documents 15 minutes, the other services refuse after 5. */
const SKEW: Record<Service, number> = { dynamodb: 300_000, ssm: 300_000, kms: 300_000, s3: 900_000 }

export interface Verifier {
  /** The credential that signed this request to this service. `now` in unix ms. @throws Refusal in the service's words */
  verify(service: Service, request: Received, now: number): Credential
}

/** Checks of Signature Version 4 (AWS General Reference, "Signing AWS API requests"), as strict as the strictest of the services. */
export function verifier(options: { region: string; credentials: readonly Credential[] }): Verifier {
  const known = new Map(options.credentials.map((credential) => [credential.accessKeyId, credential]))
  const signingKeys = new Map<string, KeyObject>()

  function signingKey(credential: Credential, date: string, service: Service): KeyObject {
    const name = `${credential.accessKeyId}/${date}/${service}`
    let key = signingKeys.get(name)
    if (key === undefined) {
      const secret = Buffer.from(`AWS4${credential.secretAccessKey}`)
      key = createSecretKey([date, options.region, service, 'aws4_request'].reduce(hmac, secret))
      signingKeys.set(name, key)
    }
    return key
  }

  return {
    verify(service, request, now) {
      const words = wordsOf(service)
      const claimed = authorization(request, words)
      const date = signedAt(request, words)
      checkScope(claimed.scope, { region: options.region, service, day: date.text.slice(0, 8) }, words)
      checkSignedHeaders(request, claimed.signedHeaders, words)
      const credential = known.get(claimed.accessKeyId)
      if (credential === undefined) throw words.unknownKey()
      if (request.headers['x-amz-security-token'] !== credential.sessionToken) throw words.wrongToken()
      checkClock(service, date, now, words)

      const canonical = canonicalRequest(service, request, claimed.signedHeaders, payloadHash(service, request, words))
      const toSign = [ALGORITHM, date.text, claimed.scope.join('/'), sha256(canonical)].join('\n')
      const expected = hmac(signingKey(credential, date.text.slice(0, 8), service), toSign)
      const given = Buffer.from(claimed.signature, 'hex')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw words.mismatch(canonical, toSign)
      return credential
    },
  }
}

interface Claimed {
  accessKeyId: string
  /** date, region, service, terminator */
  scope: string[]
  signedHeaders: string[]
  signature: string
}

function authorization(request: Received, words: Words): Claimed {
  const header = request.headers.authorization
  if (header === undefined) throw words.missing('Request is missing Authentication Token')
  if (!header.startsWith(`${ALGORITHM} `)) throw words.incomplete(`Unsupported AWS 'algorithm' in ${header.split(' ')[0]}`)
  const parts = new Map(
    header
      .slice(ALGORITHM.length)
      .split(',')
      .map((part) => {
        const [name = '', value = ''] = part.trim().split('=')
        return [name, value] as const
      }),
  )
  const [credential, signedHeaders, signature] = ['Credential', 'SignedHeaders', 'Signature'].map((name) => parts.get(name) ?? '')
  if (!credential || !signedHeaders || !signature) {
    throw words.incomplete("Authorization header requires 'Credential', 'SignedHeaders' and 'Signature'")
  }
  const [accessKeyId = '', ...scope] = credential.split('/')
  if (scope.length !== 4) throw words.incomplete(`Credential must have exactly 5 slash-delimited elements, got '${credential}'`)
  return { accessKeyId, scope, signedHeaders: signedHeaders.split(';'), signature }
}

function signedAt(request: Received, words: Words): SignedAt {
  const text = request.headers['x-amz-date'] ?? ''
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(at)) throw words.incomplete(`X-Amz-Date must be in ISO-8601 'basic format'. Got '${text}'`)
  return { text, at }
}

function checkScope(scope: string[], expected: { region: string; service: Service; day: string }, words: Words): void {
  const [day, region, service, terminator] = scope
  const problems = [
    region !== expected.region && `Credential should be scoped to a valid region, not '${region}'.`,
    service !== expected.service && `Credential should be scoped to correct service: '${expected.service}'.`,
    terminator !== 'aws4_request' && `Credential should be scoped with a valid terminator: 'aws4_request', not '${terminator}'.`,
    day !== expected.day && `Date in Credential scope does not match the date of the request: '${day}' != '${expected.day}'.`,
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw words.scope(problems.join(' '))
}

function checkSignedHeaders(request: Received, signed: string[], words: Words): void {
  if (
    signed.join(';') !==
    signed
      .map((name) => name.toLowerCase())
      .sort()
      .join(';')
  ) {
    throw words.incomplete('SignedHeaders are to be lower case and in order')
  }
  const needed = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))]
  const unsigned = needed.filter((name) => !signed.includes(name))
  if (unsigned.length > 0) throw words.unsignedHeaders(unsigned)
}

function checkClock(service: Service, date: SignedAt, now: number, words: Words): void {
  if (Math.abs(now - date.at) > SKEW[service]) throw words.skewed(date, now, SKEW[service])
}

/** The payload's hash as it was signed; it is that of the body, or S3's word that none was made. */
function payloadHash(service: Service, request: Received, words: Words): string {
  const claimed = request.headers['x-amz-content-sha256']
  if (service === 's3') {
    if (claimed === undefined) throw new Refusal('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')
    if (claimed === 'UNSIGNED-PAYLOAD') return claimed
    if (claimed.startsWith('STREAMING-')) throw new Refusal('NotImplemented', 'no chunked uploads here', 501)
  }
  const actual = sha256(request.body)
  if (claimed !== undefined && claimed !== actual) throw words.wrongPayloadHash(claimed, actual)
  return actual
}

function canonicalRequest(service: Service, request: Received, signedHeaders: string[], hash: string): string {
  const headers = signedHeaders.map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/[ \t]+/g, ' ')}\n`).join('')
  const query = request.query
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  return [request.method, canonicalPath(service, request.path), query, headers, signedHeaders.join(';'), hash].join('\n')
}

/** S3 encodes a path once, all other services encode what was sent once more. */
function canonicalPath(service: Service, path: string): string {
  const segments = path.split('/')
  return segments.map((segment) => encode(service === 's3' ? decode(segment) : segment)).join('/')
}

/** RFC 3986: all but letters, digits and `-_.~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal('InvalidURI', "Couldn't parse the specified URI.")
  }
}

function sha256(data: string | Buffer): string {
  return hash('sha256', data)
}

function hmac(key: Buffer | KeyObject, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest()
}
