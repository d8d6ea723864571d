import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { describe, expect, it } from 'vitest'
import type { AwsCredentials, AwsService, S3Call } from '../../src/adapters/aws/aws.ts'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { s3Client } from '../../src/adapters/aws/s3-client.ts'
import type { Bytes, Fetch } from '../../src/ports/platform.ts'

const NOW = new Date('2026-02-28T23:59:59.999Z')
const LASTING: AwsCredentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const TEMPORARY: AwsCredentials = {
  ...LASTING,
  accessKeyId: 'ASIAEXAMPLE',
  sessionToken: 'IQoJb3JpZ2luX2VjE//////////wEaCXVzLWVhc3QtMSJ+==',
}
const REGION = 'eu-central-1'
const utf8 = (text: string) => new TextEncoder().encode(text)

const s3Calls: [string, S3Call][] = [
  ['a plain key', { method: 'GET', key: 'reports/github/acme' }],
  ['the bucket itself', { method: 'GET', query: { 'list-type': '2', prefix: 'a/', 'max-keys': '1000' } }],
  ['spaces', { method: 'GET', key: ' a  b ' }],
  ['a colon, an at sign and a plus', { method: 'GET', key: 'ses:ada@acme.example+1' }],
  ['a star, parentheses, quotes and an exclamation mark', { method: 'GET', key: `*'()"!` }],
  ['a percent sign, and what looks escaped', { method: 'GET', key: '100%/%20/%2F/%2e%2e/%zz/%' }],
  ['doubled, leading and trailing slashes', { method: 'GET', key: '//a//b//' }],
  ['dots that are no segment of their own', { method: 'GET', key: '.../a..b/..c/d./.e' }],
  ['a tilde', { method: 'GET', key: '~a/~XX/ada~40acme~2Eexample' }],
  ['text beyond ASCII', { method: 'GET', key: 'é/日本/😀/e\u0301' }],
  ['everything a URL gives a meaning', { method: 'GET', key: '?a=b&c#d;e,f$g=h[i]{j}|k\\l^m`n<o>' }],
  ['control characters', { method: 'GET', key: 'a\tb\nc\u007f' }],
  ['a query of hard characters', { method: 'GET', query: { prefix: "a b+c%/*'()~é😀&=?#:@", marker: '//..//' } }],
  ['a query without values', { method: 'POST', key: 'k', query: { uploads: '' } }],
  [
    'a query out of order',
    { method: 'PUT', key: 'k', query: { uploadId: 'z+/=', partNumber: '10', 'x-id': 'UploadPart', Z: '1', a: '2' } },
  ],
  ['a name that begins another', { method: 'GET', query: { 'a-b': '1', a: '2', a1: '3', 'a.b': '4' } }],
  ['a token that is base64', { method: 'GET', query: { 'continuation-token': '1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=' } }],
  ['an empty body', { method: 'PUT', key: 'k', body: new Uint8Array(0) }],
  ['bytes that are no text', { method: 'PUT', key: 'k', body: new Uint8Array([0, 255, 254, 13, 10]) }],
  ['a body that is part of a larger buffer', { method: 'PUT', key: 'k', body: utf8('0123456789').subarray(3, 7) }],
  [
    'headers with spaces repeated and around',
    { method: 'PUT', key: 'k', headers: { 'x-amz-meta-a': '  a   b \t c  ', 'If-Match': '"e  tag"' } },
  ],
  [
    'headers out of order and of every case',
    { method: 'PUT', key: 'k', headers: { 'X-Amz-Meta-B': '2', 'x-amz-meta-A': '1', 'X-AMZ-ACL': 'private' } },
  ],
  ['an empty header', { method: 'PUT', key: 'k', headers: { 'x-amz-meta-none': '' } }],
  ['content-type and range', { method: 'GET', key: 'k', headers: { 'Content-Type': 'text/plain; charset=utf-8', range: 'bytes=0-9' } }],
  ['HEAD', { method: 'HEAD', key: 'a b' }],
  ['DELETE', { method: 'DELETE', key: 'a+b' }],
]

const inputs: [string, Record<string, unknown>][] = [
  ['an empty object', {}],
  ['text of every kind', { Key: "a b:c@d+e*f%g//..~'()!", é: '日本😀', lines: 'a\r\nb' }],
  ['half a surrogate pair', { Key: 'a\ud800b' }],
  ['a large input', { Item: { v: { B: 'x'.repeat(350_000) } } }],
]

for (const [kind, credentials] of [
  ['lasting', LASTING],
  ['temporary', TEMPORARY],
] as const) {
  describe(`with ${kind} credentials, the signature of @smithy/signature-v4`, () => {
    for (const endpoint of [undefined, 'http://127.0.0.1:9000', 'https://store.example/sub%20path']) {
      for (const [what, call] of s3Calls) {
        it(`s3 at ${endpoint ?? 'Amazon'}: ${what}`, async () => {
          const { fetch, sent } = capturing(new Response('x'))
          const client = s3Client({ ...options(credentials, fetch), endpoint, bucket: 'sluis-acme' })
          await (await client.send(call)).text()
          await expectSameSignature('s3', credentials, sent())
        })
      }
    }

    for (const service of ['dynamodb', 'ssm', 'kms'] as const) {
      for (const [what, input] of inputs) {
        it(`${service}: ${what}`, async () => {
          const { fetch, sent } = capturing(new Response('{}'))
          await jsonClient({ ...options(credentials, fetch), service }).call({ operation: 'Do', input })
          await expectSameSignature(service, credentials, sent())
        })
      }
      for (const endpoint of [
        'http://localhost:8000',
        'https://[::1]:444/',
        'https://proxy.example/a b/é+*~/%25/x',
        'https://proxy.example/a//b/../c',
      ]) {
        it(`${service} at ${endpoint}`, async () => {
          const { fetch, sent } = capturing(new Response('{}'))
          await jsonClient({ ...options(credentials, fetch), service, endpoint }).call({ operation: 'Do', input: {} })
          await expectSameSignature(service, credentials, sent())
        })
      }
    }
  })
}

interface Sent {
  method: string
  url: URL
  headers: Record<string, string>
  body: Bytes
}

function options(credentials: AwsCredentials, fetch: Fetch) {
  const random = { bytes: (length: number) => new Uint8Array(length) }
  return { region: REGION, credentials, fetch, clock: { now: () => NOW.getTime() }, random }
}

/** What a request carries when it leaves: a Request is built of it, so that what fetch itself changes is seen. */
function capturing(answer: Response): { fetch: Fetch; sent(): Sent } {
  let captured: Sent | undefined
  return {
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const headers = Object.fromEntries(request.headers)
      captured = { method: request.method, url: new URL(request.url), headers, body: new Uint8Array(await request.arrayBuffer()) }
      return answer
    },
    sent: () => captured ?? expect.unreachable('nothing was sent'),
  }
}

async function expectSameSignature(service: AwsService, credentials: AwsCredentials, { method, url, headers, body }: Sent): Promise<void> {
  const { authorization, ...others } = headers
  const { sessionToken, ...lasting } = credentials
  const signer = new SignatureV4({
    service,
    region: REGION,
    credentials: sessionToken === undefined ? lasting : { ...lasting, sessionToken },
    sha256: Sha256,
    uriEscapePath: service !== 's3', // S3 takes the path as it was sent, every other service encodes it once more
    applyChecksum: false, // S3's header is among ours; the others need none
  })
  const { protocol, hostname, pathname: path, host } = url
  const query = Object.fromEntries(url.searchParams)
  const signed = await signer.sign({ method, protocol, hostname, path, query, headers: { ...others, host }, body }, { signingDate: NOW })
  expect(authorization).toMatch(/^AWS4-HMAC-SHA256 /)
  expect(authorization).toBe(signed.headers.authorization)
  expect(others['x-amz-date']).toBe('20260228T235959Z')
  expect(others['x-amz-security-token']).toBe(sessionToken)
  if (service === 's3') expect(others['x-amz-content-sha256']).toBe(createHash('sha256').update(body).digest('hex'))
}

/** The hash smithy asks for; with a secret, the keyed one. */
class Sha256 {
  private readonly hash: Hash | Hmac
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret))
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytesOf(data))
  }
  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.hash.digest())
  }
  reset(): void {
    throw new Error('smithy makes a new hash for every digest')
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return utf8(data)
  return data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}
