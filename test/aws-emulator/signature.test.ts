import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'
import { listTables, type Plan, send, sign } from './signed-request.ts'

const temporary = { accessKeyId: 'ASIATEMPORARY', secretAccessKey: 'temporary', sessionToken: 'the/session+token==' }

let emulator: AwsEmulator
beforeAll(async () => {
  emulator = await startAwsEmulator({
    credentials: [{ accessKeyId: 'AKIA1', secretAccessKey: 'secret' }, temporary],
    buckets: ['bucket'],
  })
})
beforeEach(() => emulator.faults.clear())
afterAll(() => emulator.stop())

const object: Plan = { service: 's3', method: 'PUT', path: '/bucket/key', body: 'x' }

describe('a request that @smithy/signature-v4 signed passes', () => {
  const cases: Record<string, Plan> = {
    'JSON to the root': listTables,
    'a session token': { ...listTables, credentials: temporary },
    'runs of spaces in a header': { ...listTables, headers: { ...listTables.headers, 'x-amz-note': '  a   b  ' } },
    'an object': object,
    'an empty object': { service: 's3', method: 'PUT', path: '/bucket/empty' },
    'an object with a session token': { ...object, credentials: temporary },
    'a path with what must be encoded': { ...object, path: '/bucket/a%20b%3A%40%2B%2A%25%27%28%29~-_.%C3%A9' },
    'a path with empty segments': { ...object, path: '/bucket//a//b/' },
    'a path with dots': { ...object, path: '/bucket/a/.../b' },
    'a query with what must be encoded': {
      service: 's3',
      method: 'GET',
      path: '/bucket',
      query: { 'list-type': '2', prefix: "a b:@+*%//é'()", 'start-after': '', 'max-keys': '1' },
    },
  }
  it.each(Object.entries(cases))('%s', async (_, plan) => {
    expect(await send(await sign(emulator, plan))).toMatchObject({ status: 200 })
  })
})

describe('a JSON service refuses', () => {
  const refusals: [string, string, () => Promise<Awaited<ReturnType<typeof sign>>>][] = [
    ['no signature', 'MissingAuthenticationTokenException', () => spoilt(listTables, ({ authorization: _, ...headers }) => headers)],
    ['a key nobody has', 'UnrecognizedClientException', () => signed({ credentials: { accessKeyId: 'AKIA2', secretAccessKey: 'secret' } })],
    ['another secret', 'InvalidSignatureException', () => signed({ credentials: { accessKeyId: 'AKIA1', secretAccessKey: 'Secret' } })],
    ['another session token', 'UnrecognizedClientException', () => signed({ credentials: { ...temporary, sessionToken: 'other' } })],
    ['no session token', 'UnrecognizedClientException', () => signed({ credentials: withoutToken(temporary) })],
    [
      'a token nobody gave',
      'UnrecognizedClientException',
      () => signed({ credentials: { ...emulator.credentials[0], sessionToken: 't' } }),
    ],
    ['no date', 'IncompleteSignatureException', () => spoilt(listTables, ({ 'x-amz-date': _, ...headers }) => headers)],
    [
      'another date than was signed',
      'InvalidSignatureException',
      () => spoilt(listTables, (h) => ({ ...h, 'x-amz-date': secondLater(h) })),
    ],
    ['a clock 6 minutes behind', 'InvalidSignatureException', () => signed({ at: Date.now() - 360_000 })],
    ['a clock 6 minutes ahead', 'InvalidSignatureException', () => signed({ at: Date.now() + 360_000 })],
    ['another region', 'InvalidSignatureException', () => signed({ region: 'us-east-1' })],
    ['another service', 'InvalidSignatureException', () => signed({ service: 'kms' })],
    ['an x-amz- header that is not signed', 'InvalidSignatureException', () => spoilt(listTables, (h) => ({ ...h, 'x-amz-note': 'n' }))],
    [
      'another target than was signed',
      'InvalidSignatureException',
      () => spoilt(listTables, (h) => ({ ...h, 'x-amz-target': 'DynamoDB_20120810.Scan' })),
    ],
    ['another body than was signed', 'InvalidSignatureException', async () => ({ ...(await sign(emulator, listTables)), body: '{ }' })],
    [
      'a hash of another body',
      'InvalidSignatureException',
      () => signed({ headers: { ...listTables.headers, 'x-amz-content-sha256': '0'.repeat(64) } }),
    ],
    [
      'the wrong content type',
      'UnknownOperationException',
      () => signed({ headers: { ...listTables.headers, 'content-type': 'application/json' } }),
    ],
    ['a body that is no object', 'SerializationException', () => signed({ body: '[]' })],
    [
      'an operation it does not have',
      'UnknownOperationException',
      () => signed({ headers: { ...listTables.headers, 'x-amz-target': 'DynamoDB_20120810.Nothing' } }),
    ],
  ]
  it.each(refusals)('%s', async (_, type, request) => {
    const answer = await send(await request())
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(JSON.parse(answer.text).__type).toBe(`com.amazon.coral.service#${type}`)
  })

  it('and a clock 4 minutes off passes', async () => {
    expect(await send(await signed({ at: Date.now() - 240_000 }))).toMatchObject({ status: 200 })
  })

  it("by the emulator's clock, which its Date tells, wherever that stands", async () => {
    emulator.faults.clockOffset = 600_000
    const refused = await send(await signed({}))
    expect(refused.text).toContain('Signature expired')
    const told = Date.parse(refused.headers.date ?? '')
    expect(await send(await signed({ at: told }))).toMatchObject({ status: 200 })
  })
})

describe('S3 refuses', () => {
  const refusals: [string, number, string, () => Promise<Awaited<ReturnType<typeof sign>>>][] = [
    [
      'a key nobody has',
      403,
      'InvalidAccessKeyId',
      () => sign(emulator, { ...object, credentials: { accessKeyId: 'AKIA2', secretAccessKey: 's' } }),
    ],
    [
      'another secret',
      403,
      'SignatureDoesNotMatch',
      () => sign(emulator, { ...object, credentials: { accessKeyId: 'AKIA1', secretAccessKey: 's' } }),
    ],
    [
      'another session token',
      400,
      'InvalidToken',
      () => sign(emulator, { ...object, credentials: { ...temporary, sessionToken: 'other' } }),
    ],
    ['a clock 16 minutes off', 403, 'RequestTimeTooSkewed', () => sign(emulator, { ...object, at: Date.now() - 960_000 })],
    ['another region', 400, 'AuthorizationHeaderMalformed', () => sign(emulator, { ...object, region: 'us-east-1' })],
    ['an x-amz- header that is not signed', 403, 'AccessDenied', () => spoilt(object, (h) => ({ ...h, 'x-amz-meta-n': 'n' }))],
    [
      'no hash of the body',
      400,
      'InvalidRequest',
      () => spoilt(object, ({ 'x-amz-content-sha256': _, ...h }) => ({ ...h, authorization: unsaid(h) })),
    ],
    ['another body than was signed', 400, 'XAmzContentSHA256Mismatch', async () => ({ ...(await sign(emulator, object)), body: 'y' })],
    [
      'another path than was signed',
      403,
      'SignatureDoesNotMatch',
      async () => ({ ...(await sign(emulator, object)), url: `${emulator.url}/bucket/other` }),
    ],
  ]
  it.each(refusals)('%s', async (_, status, code, request) => {
    const answer = await send(await request())
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(`<Code>${code}</Code>`)
  })

  it('and a clock 14 minutes off passes', async () => {
    expect(await send(await sign(emulator, { ...object, at: Date.now() - 840_000 }))).toMatchObject({ status: 200 })
  })
})

it('every answer has a date and a request id, refusals too', async () => {
  for (const answer of [await send(await signed({})), await send(await signed({ region: 'us-east-1' }))]) {
    expect(Math.abs(Date.parse(answer.headers.date ?? '') - Date.now())).toBeLessThan(5_000)
    expect(answer.headers['x-amzn-requestid']).toMatch(/./)
  }
})

function signed(changes: Partial<Plan>) {
  return sign(emulator, { ...listTables, ...changes })
}

async function spoilt(plan: Plan, spoil: (headers: Record<string, string>) => Record<string, string>) {
  const request = await sign(emulator, plan)
  return { ...request, headers: spoil(request.headers) }
}

function secondLater(headers: Record<string, string>): string {
  const date = headers['x-amz-date'] ?? ''
  return `${date.slice(0, 13)}${date.slice(13, 15) === '00' ? '01' : '00'}Z`
}

/** The Authorization header without a word of the body's hash. */
function unsaid(headers: Record<string, string>): string {
  return (headers.authorization ?? '').replace('x-amz-content-sha256;', '')
}

function withoutToken({ accessKeyId, secretAccessKey }: typeof temporary) {
  return { accessKeyId, secretAccessKey }
}
