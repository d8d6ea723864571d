import { describe, expect, it } from 'vitest'
import { utf8 } from '../../crypto/bytes.ts'
import { sha256Hex } from '../../crypto/digest.ts'
import { AwsError, type S3Call } from './aws.ts'
import { s3Client } from './s3-client.ts'
import { type Scripted, scriptedService } from './scripted-service.ts'

const OK = { status: 200, body: 'x' } as const

describe('the address of an S3 call', () => {
  it('is the bucket’s own host; the path of an endpoint that was given, or of a bucket with a dot', async () => {
    for (const [bucket, region, endpoint, root] of [
      ['sluis-acme', 'eu-west-1', undefined, 'https://sluis-acme.s3.eu-west-1.amazonaws.com/'],
      ['sluis-acme', 'cn-north-1', undefined, 'https://sluis-acme.s3.cn-north-1.amazonaws.com.cn/'],
      ['sluis.acme', 'eu-west-1', undefined, 'https://s3.eu-west-1.amazonaws.com/sluis.acme/'],
      ['sluis-acme', 'eu-west-1', 'http://127.0.0.1:9000', 'http://127.0.0.1:9000/sluis-acme/'],
      ['sluis-acme', 'eu-west-1', 'http://127.0.0.1:9000/', 'http://127.0.0.1:9000/sluis-acme/'],
    ] as const) {
      const service = scriptedService([OK])
      const client = s3Client({ ...service.options, bucket, region, endpoint })
      await client.send({ method: 'GET', key: 'a/b' })
      await client.send({ method: 'GET', query: { 'list-type': '2' } })
      expect(service.sent.map((one) => one.url)).toEqual([`${root}a/b`, `${root}?list-type=2`])
    }
  })

  it('has key and query encoded once, slashes kept', async () => {
    for (const [key, path] of [
      ['a b+c', 'a%20b%2Bc'],
      ["!*'()~-_.", '%21%2A%27%28%29~-_.'],
      ['100%/%2e%2e/é', '100%25/%252e%252e/%C3%A9'],
      ['/a//b/', '/a//b/'],
      ['a?b#c:d@e&f=g', 'a%3Fb%23c%3Ad%40e%26f%3Dg'],
      ['...', '...'],
    ] as const) {
      const { sent } = await sending({ method: 'GET', key }, OK)
      expect(sent).toMatchObject([{ url: `https://b.s3.eu-west-1.amazonaws.com/${path}` }])
    }
    const { sent } = await sending({ method: 'POST', key: 'k', query: { uploads: '', marker: 'a+b/ü' } }, OK)
    expect(sent[0]?.url).toMatch(/\/k\?uploads=&marker=a%2Bb%2F%C3%BC$/)
  })

  it('a key no URL can carry is Unsupported, and nothing is sent: an empty one would be the bucket itself', async () => {
    for (const key of ['', '.', '..', 'a/../b', './a', 'a/.', 'a/..', '\ud800']) {
      const service = scriptedService([OK])
      const refusal = s3Client({ ...service.options, bucket: 'b' }).send({ method: 'DELETE', key })
      await expect(refusal, key).rejects.toMatchObject({ code: 'Unsupported' })
      expect(service.sent, key).toEqual([])
    }
  })
})

describe('an S3 call', () => {
  it('signs the digest of its body, and every header it sends', async () => {
    const headers = { 'Content-Type': 'text/plain', Range: 'bytes=0-1', 'if-match': '"e"' }
    const { sent } = await sending({ method: 'PUT', key: 'k', body: utf8('hello'), headers }, OK)
    expect(sent).toMatchObject([{ method: 'PUT', body: 'hello' }])
    const signed = sent[0]?.headers
    expect(signed?.get('x-amz-content-sha256')).toBe(await sha256Hex('hello'))
    expect(signed?.get('content-type')).toBe('text/plain')
    expect(signed?.get('authorization')).toContain('SignedHeaders=content-type;host;if-match;range;x-amz-content-sha256;x-amz-date,')

    const empty = await sending({ method: 'GET', key: 'k' }, OK)
    expect(empty.sent[0]?.headers.get('x-amz-content-sha256')).toBe(await sha256Hex(''))
  })

  it('with a header that is not ASCII is Unsupported, and nothing is sent', async () => {
    for (const value of ['é', 'a\u00a0b', 'a\nb', '日']) {
      const service = scriptedService([OK])
      const refusal = s3Client({ ...service.options, bucket: 'b' }).send({ method: 'PUT', key: 'k', headers: { 'x-amz-meta-a': value } })
      await expect(refusal, value).rejects.toMatchObject({ code: 'Unsupported' })
      expect(service.sent).toEqual([])
    }
  })

  it('answers with the body unread, 206 too', async () => {
    const service = scriptedService([{ status: 206, headers: { etag: '"e"' }, body: 'part' }])
    const answer = await s3Client({ ...service.options, bucket: 'b' }).send({ method: 'GET', key: 'k' })
    expect([answer.status, answer.headers.get('etag'), service.unread()]).toEqual([206, '"e"', 1])
    expect(await answer.text()).toBe('part')
  })

  it('whose body stops in the middle is Unavailable, and its connection is dropped; one that is read slowly is not', async () => {
    const stopping = scriptedService([{ status: 200, body: 'half', hangs: true }])
    const answer = await s3Client({ ...stopping.options, bucket: 'b', idle: 20 }).send({ method: 'GET', key: 'k' })
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.value).toEqual(utf8('half'))
    await expect(reader?.read()).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining('s3 GET stopped') })
    expect(stopping.unread()).toBe(0)

    const whole = scriptedService([{ status: 200, body: 'whole' }])
    const slowly = (await s3Client({ ...whole.options, bucket: 'b', idle: 20 }).send({ method: 'GET', key: 'k' })).body?.getReader()
    expect((await slowly?.read())?.value).toEqual(utf8('whole'))
    await new Promise((resume) => setTimeout(resume, 50))
    expect((await slowly?.read())?.done).toBe(true)
  })

  it('whose reader cancels ends the download', async () => {
    const service = scriptedService([{ status: 200, body: 'much', hangs: true }])
    await (await s3Client({ ...service.options, bucket: 'b' }).send({ method: 'GET', key: 'k' })).body?.cancel()
    expect(service.unread()).toBe(0)
  })
})

describe('a refusal of S3', () => {
  const xml = (code: string) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>no</Message><Key>Code</Key></Error>`
  const cases: [string, S3Call['method'], Scripted][] = [
    ['NoSuchKey', 'GET', { status: 404, body: xml('NoSuchKey') }],
    ['NoSuchBucket', 'GET', { status: 404, body: xml('NoSuchBucket') }],
    ['PreconditionFailed', 'PUT', { status: 412, body: xml('PreconditionFailed') }],
    ['ConditionalRequestConflict', 'PUT', { status: 409, body: xml('ConditionalRequestConflict') }],
    ['PermanentRedirect', 'GET', { status: 301, body: xml('PermanentRedirect') }],
    ['HTTP 404', 'GET', { status: 404, body: '' }],
    ['HTTP 404', 'GET', { status: 404, body: '<html><Code>NoSuchKey</Code></html>' }],
    ['HTTP 403', 'PUT', { status: 403, body: xml('see http://10.0.0.1/') }],
    ['NotFound', 'HEAD', { status: 404, body: null }],
    ['AccessDenied', 'HEAD', { status: 403, body: null }],
    ['PreconditionFailed', 'HEAD', { status: 412, body: null }],
    ['PermanentRedirect', 'HEAD', { status: 301, body: null }],
    ['HTTP 400', 'HEAD', { status: 400, body: null }],
    ['NotModified', 'GET', { status: 304, body: null }],
  ]
  for (const [type, method, take] of cases) {
    it(`${method} ${take.status} ${JSON.stringify(take.body)} is ${type}`, async () => {
      const service = scriptedService([take])
      const error = await s3Client({ ...service.options, bucket: 'b' })
        .send({ method, key: 'k' })
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(AwsError)
      expect(error).toMatchObject({ type, status: take.status, body: {}, mayHaveLanded: false })
      expect(service.sent).toHaveLength(1)
      expect(service.unread()).toBe(0)
    })
  }

  it('is read up to 64 KiB', async () => {
    const service = scriptedService([{ status: 404, body: xml('NoSuchKey').padEnd(64 * 1024 + 1) }])
    await expect(s3Client({ ...service.options, bucket: 'b' }).send({ method: 'GET', key: 'k' })).rejects.toMatchObject({
      type: 'HTTP 404',
    })
    expect(service.unread()).toBe(0)
  })

  it('of a repetition is marked as one', async () => {
    const service = scriptedService(['lost', { status: 412, body: xml('PreconditionFailed') }])
    const refusal = s3Client({ ...service.options, bucket: 'b' }).send({ method: 'PUT', key: 'k', body: utf8('x') })
    await expect(refusal).rejects.toMatchObject({ type: 'PreconditionFailed', mayHaveLanded: true })
  })
})

async function sending(call: S3Call, take: Scripted) {
  const service = scriptedService([take])
  const answer = await s3Client({ ...service.options, bucket: 'b' }).send(call)
  await answer.text()
  return service
}
