import { describe, expect, it } from 'vitest'
import { type Bytes, hex, utf8 } from '../../crypto/bytes.ts'
import { PortError } from '../../ports/error.ts'
import { AwsError, type S3Call, type S3Client } from '../aws/aws.ts'
import { s3Blob } from './blob.ts'
import { multipartEtag } from './multipart-etag.ts'
import { PART_SIZE } from './parts.ts'

type Answer = Response | Error | undefined

const ETAG = '0cc175b9c0f1b6a831c399e269772661'

/** An S3 that answers each call with what `answers` says of it, and keeps the calls. */
function s3(answers: (call: S3Call) => Answer | Promise<Answer>) {
  const calls: S3Call[] = []
  const client: S3Client = {
    async send(call) {
      calls.push(call)
      const answer = await answers(call)
      if (answer instanceof Error) throw answer
      return answer ?? new Response(null, { status: 200 })
    },
  }
  return { calls, client, blob: s3Blob({ client, prefix: 'acme' }), said: () => calls.map(({ method, key }) => `${method} ${key ?? ''}`) }
}

const refusal = (type: string, status: number, mayHaveLanded = false) => new AwsError(type, 'no', { status, mayHaveLanded })
const found = (body: BodyInit, etag = ETAG) => new Response(body, { headers: { etag: `"${etag}"` } })
const written = (etag = ETAG) => new Response(null, { headers: { etag: `"${etag}"` } })

describe('the s3 blob', () => {
  it('says on every write how it is to be encrypted: by S3, or under the key it was given', async () => {
    const { client, calls, blob } = s3(() => written())
    await blob.write('a', utf8('x'))
    await blob.writeIfVersion('a', utf8('x'), ETAG)
    await s3Blob({ client, sseKmsKeyId: 'alias/acme' }).write('a', utf8('x'))
    expect(calls.map(({ key, headers }) => ({ key, headers }))).toEqual([
      { key: 'acme/a', headers: { 'x-amz-server-side-encryption': 'AES256' } },
      { key: 'acme/a', headers: { 'x-amz-server-side-encryption': 'AES256', 'if-match': `"${ETAG}"` } },
      {
        key: 'a',
        headers: { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': 'alias/acme' },
      },
    ])
  })

  it('refuses what is no name before asking: over 1,024 bytes with the prefix, half a surrogate pair, a dot for a segment', async () => {
    const { blob, calls } = s3(() => written())
    await blob.write('é'.repeat(509), utf8('fits with acme/ in front'))
    for (const name of ['é'.repeat(510), '\ud800', '.', '..', 'a/../b', './a', 'a/.'])
      await expect(blob.write(name, utf8('x')), name).rejects.toMatchObject({ code: 'Unsupported' })
    expect(calls).toHaveLength(1)
  })

  it('is NotFound only where S3 says that there is no such key', async () => {
    for (const [error, code] of [
      [refusal('NoSuchKey', 404), 'NotFound'],
      [refusal('HTTP 404', 404), 'Unavailable'],
      [refusal('NoSuchBucket', 404), 'Unavailable'],
      [refusal('AccessDenied', 403), 'Unavailable'],
      [new PortError('Unavailable', 'no answer'), 'Unavailable'],
    ] as const) {
      const { blob } = s3(() => error)
      await expect(blob.read('a'), error.message).rejects.toMatchObject({ code })
      await expect(blob.readStream('a'), error.message).rejects.toMatchObject({ code })
    }
  })

  it('is Unavailable, saying what to do, when there is no bucket or no permission', async () => {
    await expect(s3(() => refusal('NoSuchBucket', 404)).blob.list('')).rejects.toThrow('the S3 bucket does not exist')
    await expect(s3(() => refusal('AccessDenied', 403)).blob.write('a', utf8('x'))).rejects.toThrow('npm run iam')
  })

  it('is Unavailable when an answer has no ETag, or a listing is no XML', async () => {
    const { blob } = s3(() => new Response('x'))
    for (const call of [() => blob.read('a'), () => blob.write('a', utf8('x')), () => blob.list('')])
      await expect(call()).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('is Unavailable when a listing goes on for ever, which is read no further than a page can be', async () => {
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent++
        controller.enqueue(new Uint8Array(2 ** 20).fill(32))
      },
    })
    await expect(s3(() => new Response(endless)).blob.list('')).rejects.toMatchObject({ code: 'Unavailable' })
    expect(sent).toBeLessThan(16)
  })

  it('lists every page, and nothing but names under its prefix', async () => {
    const pages: Record<string, string> = {
      '': '<Contents><Key>acme/b</Key></Contents><IsTruncated>true</IsTruncated><NextContinuationToken>2</NextContinuationToken>',
      2: '<Contents><Key>acme/a</Key></Contents><Contents><Key>other</Key></Contents><IsTruncated>false</IsTruncated>',
    }
    const { blob, calls } = s3(
      ({ query }) => new Response(`<ListBucketResult>${pages[query?.['continuation-token'] ?? '']}</ListBucketResult>`),
    )
    expect(await blob.list('')).toEqual(['a', 'b'])
    const query = { 'list-type': '2', 'encoding-type': 'url', prefix: 'acme/' }
    expect(calls.map((call) => call.query)).toEqual([query, { ...query, 'continuation-token': '2' }])
    expect(await blob.list('\ud800')).toEqual([])
    expect(calls).toHaveLength(2)
  })
})

describe('a conditional write of s3', () => {
  const cases: [string, AwsError, Answer, string | { code: string }, string[]][] = [
    ['412 over an object is Conflict', refusal('PreconditionFailed', 412), written(), { code: 'Conflict' }, ['PUT', 'HEAD']],
    ['412 over nothing is NotFound', refusal('PreconditionFailed', 412), refusal('NotFound', 404), { code: 'NotFound' }, ['PUT', 'HEAD']],
    [
      '412, and who stands cannot be told, is Unavailable',
      refusal('PreconditionFailed', 412),
      refusal('AccessDenied', 403),
      { code: 'Unavailable' },
      ['PUT', 'HEAD'],
    ],
    ['409 is Conflict', refusal('ConditionalRequestConflict', 409), undefined, { code: 'Conflict' }, ['PUT']],
    ['a missing key is NotFound', refusal('NoSuchKey', 404), undefined, { code: 'NotFound' }, ['PUT']],
    ['a missing bucket is Unavailable', refusal('NoSuchBucket', 404), undefined, { code: 'Unavailable' }, ['PUT']],
    [
      'whose answer was lost has landed when its bytes stand',
      refusal('PreconditionFailed', 412, true),
      found('ours', 'abc-1'),
      'abc-1',
      ['PUT', 'GET'],
    ],
    [
      'whose answer was lost, refused by 409, has landed when its bytes stand',
      refusal('ConditionalRequestConflict', 409, true),
      found('ours', 'abc-1'),
      'abc-1',
      ['PUT', 'GET'],
    ],
    [
      'whose answer was lost is Conflict when other bytes stand',
      refusal('PreconditionFailed', 412, true),
      found('theirs'),
      { code: 'Conflict' },
      ['PUT', 'GET'],
    ],
    [
      'whose answer was lost is NotFound when nothing stands',
      refusal('PreconditionFailed', 412, true),
      refusal('NoSuchKey', 404),
      { code: 'NotFound' },
      ['PUT', 'GET'],
    ],
  ]
  it.each(cases)('%s', async (_, put, standing, outcome, asked) => {
    const { blob, calls } = s3(({ method }) => (method === 'PUT' ? put : standing))
    const writing = blob.writeIfVersion('a', utf8('ours'), ETAG)
    if (typeof outcome === 'string') expect(await writing).toBe(outcome)
    else await expect(writing).rejects.toMatchObject(outcome)
    expect(calls.map(({ method }) => method)).toEqual(asked)
  })

  it('puts nothing under a version that is no ETag', async () => {
    const { blob, said } = s3(({ key }) => (key === 'acme/b' ? refusal('NotFound', 404) : written()))
    await expect(blob.writeIfVersion('a', utf8('y'), '*')).rejects.toMatchObject({ code: 'Conflict' })
    await expect(blob.writeIfVersion('b', utf8('y'), `"${ETAG}"`)).rejects.toMatchObject({ code: 'NotFound' })
    expect(said()).toEqual(['HEAD acme/a', 'HEAD acme/b'])
  })
})

/** An S3 for one upload; `answers` goes first. Every part is kept and its MD5 is its ETag. */
function uploads(answers: (call: S3Call) => Answer = () => undefined) {
  const parts: Bytes[] = []
  const under = s3(async (call) => {
    const answer = answers(call)
    if (answer !== undefined) return answer
    const { method, query = {}, body } = call
    if (method === 'POST' && 'uploads' in query)
      return new Response('<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>')
    if (method === 'PUT' && body) {
      parts.push(body.slice())
      return written(await md5(body))
    }
    if (method === 'POST')
      return new Response('  <CompleteMultipartUploadResult><ETag>&quot;abc-2&quot;</ETag></CompleteMultipartUploadResult>')
    return undefined
  })
  return { ...under, parts }
}

/** Two parts: a whole one and a byte. Tells whether its reader let go of it. */
function twoParts() {
  const chunks = [new Uint8Array(PART_SIZE).fill(1), Uint8Array.of(2)]
  const state = { cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks.shift()
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel() {
        state.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { state, stream }
}

/** The runtime's, which is fast: hex. */
async function md5(bytes: Bytes): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest('MD5', bytes)))
}

const isEnd = ({ method, query = {} }: S3Call) => method === 'POST' && 'uploadId' in query

describe('a stream written to s3', () => {
  it('goes in one request below a part', async () => {
    const { blob, said } = uploads()
    await blob.writeStream('a', new Response('small').body ?? expect.unreachable())
    expect(said()).toEqual(['PUT acme/a'])
  })

  it('goes in parts from a whole one on, encryption said where the upload begins', async () => {
    const { blob, calls, parts } = uploads()
    expect(await blob.writeStream('a', twoParts().stream)).toBe('abc-2')
    expect(calls.map(({ method, query }) => [method, query])).toEqual([
      ['POST', { uploads: '' }],
      ['PUT', { partNumber: '1', uploadId: 'u1' }],
      ['PUT', { partNumber: '2', uploadId: 'u1' }],
      ['POST', { uploadId: 'u1' }],
    ])
    expect(calls[0]?.headers).toEqual({ 'x-amz-server-side-encryption': 'AES256' })
    expect(calls[1]?.headers).toBeUndefined()
    expect(parts.map(({ length }) => length)).toEqual([PART_SIZE, 1])
    const etags = await Promise.all(parts.map(md5))
    const named = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`)
    expect(new TextDecoder().decode(calls[3]?.body)).toContain(`>${named.join('')}<`)
  })

  it('is refused, and aborted, when S3 answers 200 and an error', async () => {
    const { blob, calls } = uploads((call) =>
      isEnd(call) ? new Response('<Error><Code>InternalError</Code><Message>try again</Message></Error>') : undefined,
    )
    await expect(blob.writeStream('a', twoParts().stream)).rejects.toMatchObject({
      code: 'Unavailable',
      cause: expect.objectContaining({ type: 'InternalError' }),
    })
    expect(calls.at(-1)).toMatchObject({ method: 'DELETE', key: 'acme/a', query: { uploadId: 'u1' } })
  })

  it('is aborted when a part fails, and its source let go', async () => {
    const { blob, said } = uploads(({ query }) => (query?.partNumber === '1' ? new PortError('Unavailable', 'no answer') : undefined))
    const { state, stream } = twoParts()
    await expect(blob.writeStream('a', stream)).rejects.toMatchObject({ code: 'Unavailable', message: 'no answer' })
    expect(said()).toEqual(['POST acme/a', 'PUT acme/a', 'DELETE acme/a'])
    expect(state.cancelled).toBe(true)
  })

  it('fails with what failed, also when the abort does', async () => {
    const { blob } = uploads((call) => (isEnd(call) || call.method === 'DELETE' ? refusal(`of ${call.method}`, 400) : undefined))
    await expect(blob.writeStream('a', twoParts().stream)).rejects.toMatchObject({ cause: expect.objectContaining({ type: 'of POST' }) })
  })

  it('is refused with what its source broke with', async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('the source broke')) })
    await expect(uploads().blob.writeStream('a', broken)).rejects.toMatchObject({
      code: 'Unavailable',
      message: 'writing an object failed',
      cause: expect.objectContaining({ message: 'the source broke' }),
    })
  })

  it('lets its source go when no upload can be begun', async () => {
    const { blob } = uploads(({ method }) => (method === 'POST' ? refusal('AccessDenied', 403) : undefined))
    const { state, stream } = twoParts()
    await expect(blob.writeStream('a', stream)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(state.cancelled).toBe(true)
  })

  describe('whose last answer was lost', () => {
    const lost = (standing: Answer) =>
      uploads((call) => (isEnd(call) ? refusal('NoSuchUpload', 404, true) : call.method === 'HEAD' ? standing : undefined))

    it('is there when the object has the ETag of its parts', async () => {
      const ours = multipartEtag([await md5(new Uint8Array(PART_SIZE).fill(1)), await md5(Uint8Array.of(2))]) ?? ''
      const { blob, said } = lost(written(ours))
      expect(await blob.writeStream('a', twoParts().stream)).toBe(ours)
      expect(said().at(-1)).toBe('HEAD acme/a')
    })

    it('is Unavailable when the object has another, or is none', async () => {
      await expect(lost(written('abc-2')).blob.writeStream('a', twoParts().stream)).rejects.toThrow('cannot be told')
      await expect(lost(refusal('NotFound', 404)).blob.writeStream('a', twoParts().stream)).rejects.toMatchObject({ code: 'Unavailable' })
    })

    it('is not looked for when no answer of it was lost', async () => {
      const { blob, said } = uploads((call) => (isEnd(call) ? refusal('NoSuchUpload', 404) : undefined))
      await expect(blob.writeStream('a', twoParts().stream)).rejects.toMatchObject({ code: 'Unavailable' })
      expect(said()).not.toContain('HEAD acme/a')
    })
  })
})

describe('a stream read from s3', () => {
  it('ends the download when its reader cancels', async () => {
    let cancelled = false
    const download = new ReadableStream<Uint8Array>({
      cancel() {
        cancelled = true
      },
    })
    const { blob } = s3(() => found(download))
    const { body, version } = await blob.readStream('a')
    await body.cancel()
    expect({ cancelled, version }).toEqual({ cancelled: true, version: ETAG })
  })

  it('is empty when the answer has no body', async () => {
    const { blob } = s3(() => written())
    expect(await new Response((await blob.readStream('a')).body).text()).toBe('')
  })
})
