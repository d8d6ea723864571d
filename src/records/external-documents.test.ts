import { describe, expect, it } from 'vitest'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { describeError } from '../telemetry/describe-error.ts'
import { decodeCloudflareCredential, documents } from './external-documents.ts'

const EXPIRES = '2026-10-08T12:15:00Z'
const PEM = '-----BEGIN EXAMPLE KEY-----\nexample\n-----END EXAMPLE KEY-----\n'
const R2 = {
  access_key_id: 'example-token-id',
  endpoint: 'https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com',
  expires_on: EXPIRES,
  secret_access_key: 'example-derived-secret',
}

const { oidc, github, slack, cloudflareToken, cloudflareR2, cloudflareMinter, s3Credentials } = documents
const app = { private_key: PEM, installation_id: '67890', app_id: '12345' }

/** Each document, its golden bytes, and the way back. */
const golden: [string, Uint8Array<ArrayBuffer>, string, () => unknown, unknown][] = [
  row(
    oidc,
    { 'client-secret': 'example-secret-value', 'client-id': 'example-rp' },
    '{"client-id":"example-rp","client-secret":"example-secret-value","schema":"oidc/v1"}',
  ),
  row(
    github,
    { ...app, webhook_secret: 'example-webhook-secret' },
    '{"app_id":"12345","installation_id":"67890","private_key":"-----BEGIN EXAMPLE KEY-----\\nexample\\n-----END EXAMPLE KEY-----\\n","schema":"github/v1","webhook_secret":"example-webhook-secret"}',
  ),
  row(
    github,
    app,
    '{"app_id":"12345","installation_id":"67890","private_key":"-----BEGIN EXAMPLE KEY-----\\nexample\\n-----END EXAMPLE KEY-----\\n","schema":"github/v1"}',
  ),
  row(slack, { bot_token: 'xoxb-example' }, '{"bot_token":"xoxb-example","schema":"slack/v1"}'),
  row(
    cloudflareToken,
    { token: 'example-cloudflare-token', expires_on: EXPIRES },
    '{"expires_on":"2026-10-08T12:15:00Z","schema":"cloudflare/v1","token":"example-cloudflare-token"}',
  ),
  row(
    cloudflareR2,
    R2,
    '{"access_key_id":"example-token-id","endpoint":"https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com","expires_on":"2026-10-08T12:15:00Z","schema":"cloudflare/v1","secret_access_key":"example-derived-secret"}',
  ),
  row(cloudflareMinter, { token: 'example-minter-token' }, '{"schema":"cloudflare-minter/v1","token":"example-minter-token"}'),
  row(
    s3Credentials,
    { secret_access_key: 'example-secret-key', access_key_id: 'example-access-key' },
    '{"access_key_id":"example-access-key","schema":"s3-credentials/v1","secret_access_key":"example-secret-key"}',
  ),
]

function row<Fields>(
  type: { schema: string; encode(fields: Fields): Uint8Array<ArrayBuffer>; decode(bytes: Uint8Array<ArrayBuffer>): Fields },
  fields: Fields,
  bytes: string,
): (typeof golden)[number] {
  return [type.schema, type.encode(fields), bytes, () => type.decode(utf8(bytes)), fields]
}

describe('a typed secret', () => {
  it.each(golden)('%s is written as consumers know it, and read back', (_schema, written, bytes, read, fields) => {
    expect(fromUtf8(written)).toBe(bytes)
    expect(read()).toEqual(fields)
  })

  it('is not escaped beyond what JSON asks for', () => {
    expect(fromUtf8(slack.encode({ bot_token: '<a>&"é"</a>' }))).toBe('{"bot_token":"<a>&\\"é\\"</a>","schema":"slack/v1"}')
  })

  it('leaves an optional field out that is empty', () => {
    expect(github.encode({ ...app, webhook_secret: '' })).toEqual(github.encode(app))
  })

  it('is not written without a required field', () => {
    expect(() => oidc.encode({ 'client-id': 'rp', 'client-secret': '' })).toThrow('oidc/v1 is refused: client-secret is missing')
    expect(() => cloudflareR2.encode({ ...R2, endpoint: '' })).toThrow('endpoint is missing')
  })

  it('is read whatever stands beside its fields, and in whatever order', () => {
    const bytes = utf8(' {"schema":"oidc/v1","note":{"by":["ops"]},"client-secret":"s3cret","client-id":"rp"}\n')
    expect(oidc.decode(bytes)).toEqual({ 'client-id': 'rp', 'client-secret': 's3cret' })
  })

  it.each([
    ['schema is another', '{"schema":"oidc/v2","client-id":"rp","client-secret":"s3cret"}'],
    ['schema is another', '{"client-id":"rp","client-secret":"s3cret"}'],
    ['client-id is missing', '{"schema":"oidc/v1","client-secret":"s3cret"}'],
    ['client-secret is missing', '{"schema":"oidc/v1","client-id":"s3cret","client-secret":""}'],
    ['client-secret is no string', '{"schema":"oidc/v1","client-id":"rp","client-secret":["s3cret"]}'],
    ['client-id is missing', '{"schema":"oidc/v1","__proto__":{"client-id":"rp"},"client-secret":"s3cret"}'],
    ['no JSON', '{"schema":"oidc/v1","client-id":"rp","client-secret":"s3cret"'],
    ['no JSON', 's3cret'],
    ['no JSON object', '["s3cret"]'],
    ['no JSON object', '"s3cret"'],
    ['no JSON object', 'null'],
  ])('is refused with what is wrong, %s, and nothing of what it holds', (wrong, text) => {
    const error = thrown(() => oidc.decode(utf8(text)))
    expect(error.message).toBe(`a document oidc/v1 is refused: ${wrong}`)
    expect(JSON.stringify([describeError(error), error.stack, error.cause])).not.toContain('s3cret')
  })

  it('is refused when it is no text', () => {
    expect(() => slack.decode(new Uint8Array([0x7b, 0xff]))).toThrow('no UTF-8')
  })
})

describe('a credential of Cloudflare', () => {
  it('is of the form its fields say', () => {
    const token = { token: 't', expires_on: EXPIRES }
    expect(decodeCloudflareCredential(cloudflareToken.encode(token))).toEqual({ form: 'token', credential: token })
    expect(decodeCloudflareCredential(cloudflareR2.encode(R2))).toEqual({ form: 'r2', credential: R2 })
  })

  it('of neither form is refused', () => {
    expect(() => decodeCloudflareCredential(utf8('{"schema":"cloudflare/v1","expires_on":"2026-10-08T12:15:00Z"}'))).toThrow('is missing')
  })
})

function thrown(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) return error
  }
  return expect.unreachable('it is to be refused')
}
