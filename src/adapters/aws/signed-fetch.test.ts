import { afterEach, describe, expect, it, vi } from 'vitest'
import { AwsError, type JsonCall } from './aws.ts'
import { jsonClient } from './json-client.ts'
import { s3Client } from './s3-client.ts'
import { NOW, type Scripted, type ScriptedService, scriptedService, type Take } from './scripted-service.ts'

const GET: JsonCall = { operation: 'GetItem', input: { TableName: 't' } }
const OK: Scripted = { status: 200, body: '{"Item":{}}' }
const THROTTLED = refused('ProvisionedThroughputExceededException')
const BROKEN: Scripted = { status: 500, body: '{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}' }
const CONDITION = refused('ConditionalCheckFailedException')

describe('what is tried again', () => {
  const again: [string, Take][] = [
    ['a broken connection', 'lost'],
    ['a 500', BROKEN],
    ['a 503 of a gateway', { status: 503, body: '<html>' }],
    ['a 429', { status: 429, body: '' }],
    ['a 400 that throttles a table', refused('ThrottlingException')],
    ['one that throttles a partition', THROTTLED],
    ['one that throttles an account', refused('RequestLimitExceeded')],
    ['two writers of one parameter', refused('TooManyUpdates')],
    ['an answer that is no JSON', { status: 200, body: '{"Item":' }],
    ['an answer that is no object', { status: 200, body: '[]' }],
    ['an answer of no bytes', { status: 200, body: '' }],
    ['an answer whose body breaks', { status: 200, body: '{"Item"', broken: true }],
    ['a refusal whose body breaks', { status: 400, body: '{"__type"', broken: true }],
  ]
  for (const [what, take] of again) {
    it(`${what}, and the second answer counts`, async () => {
      const service = scriptedService([take, OK])
      expect(await dynamodb(service).call(GET)).toEqual({ Item: {} })
      expect(service.sent).toHaveLength(2)
      expect(service.unread()).toBe(0)
    })
  }

  it('S3: SlowDown and RequestTimeout', async () => {
    for (const [status, code] of [
      [503, 'SlowDown'],
      [400, 'RequestTimeout'],
    ] as const) {
      const service = scriptedService([
        { status, body: `<Error><Code>${code}</Code></Error>` },
        { status: 200, body: 'x' },
      ])
      const answer = await s3Client({ ...service.options, bucket: 'b' }).send({ method: 'GET', key: 'k' })
      expect(await answer.text(), code).toBe('x')
      expect(service.sent).toHaveLength(2)
    }
  })

  it('nothing else: a refusal is thrown at once, with its type and its answer', async () => {
    for (const type of ['ConditionalCheckFailedException', 'ValidationException', 'ResourceNotFoundException', 'AccessDeniedException']) {
      const service = scriptedService([{ status: 400, body: JSON.stringify({ __type: `a.b#${type}`, Item: { n: { N: '1' } } }) }])
      const error = await refusalOf(dynamodb(service).call(GET))
      expect(error).toMatchObject({ type, status: 400, mayHaveLanded: false, body: { Item: { n: { N: '1' } } } })
      expect(service.sent, type).toHaveLength(1)
    }
  })

  it('three attempts at most, then Unavailable that says how the last one ended', async () => {
    for (const [take, says] of [
      ['lost', 'dynamodb GetItem could not be reached: are the region and the endpoint right? (attempt 3)'],
      [THROTTLED, 'dynamodb GetItem was throttled (attempt 3)'],
      [BROKEN, 'dynamodb GetItem was answered with HTTP 500 (attempt 3)'],
      [{ status: 200, body: 'x' }, 'dynamodb GetItem gave an answer that can not be read (attempt 3)'],
    ] as [Take, string][]) {
      const service = scriptedService([take])
      await expect(dynamodb(service).call(GET)).rejects.toMatchObject({ name: 'PortError', code: 'Unavailable', message: says })
      expect(service.sent, says).toHaveLength(3)
    }
  })

  it('the cause of Unavailable is the typed refusal, or what fetch threw', async () => {
    await expect(dynamodb(scriptedService([THROTTLED])).call(GET)).rejects.toMatchObject({
      cause: { name: 'AwsError', type: 'ProvisionedThroughputExceededException' },
    })
    await expect(dynamodb(scriptedService(['lost'])).call(GET)).rejects.toMatchObject({ cause: { message: 'the connection broke' } })
  })

  it('every attempt is signed anew, for the second it is sent in', async () => {
    const service = scriptedService([THROTTLED, OK])
    service.options.pause = async () => {
      service.clock.at += 2_000
    }
    await dynamodb(service).call(GET)
    expect(service.sent.map((one) => one.headers.get('x-amz-date'))).toEqual(['20260102T030405Z', '20260102T030407Z'])
    expect(new Set(service.sent.map((one) => one.headers.get('authorization'))).size).toBe(2)
  })

  it('no attempt goes out while the body of an earlier answer holds a connection', async () => {
    const long = 'x'.repeat(2 * 1024 * 1024) // over the cap of a refusal
    const service = scriptedService([{ status: 500, body: long }, THROTTLED, OK])
    await dynamodb(service).call(GET)
    expect(service.sent.map((one) => one.unread)).toEqual([0, 0, 0])
    expect(service.unread()).toBe(0)
  })
})

describe('a call that must not reach the service twice', () => {
  it('is not sent again after an end that leaves it open', async () => {
    for (const take of ['lost', BROKEN, { status: 200, body: '' }] as Take[]) {
      const service = scriptedService([take, OK])
      await expect(dynamodb(service).call({ ...GET, repeatable: false })).rejects.toMatchObject({ code: 'Unavailable' })
      expect(service.sent).toHaveLength(1)
    }
  })

  it('is sent again after a throttle and after a clock that was off: neither was carried out', async () => {
    const service = scriptedService([THROTTLED, expired(NOW + 600_000), OK])
    expect(await dynamodb(service).call({ ...GET, repeatable: false })).toEqual({ Item: {} })
    expect(service.sent).toHaveLength(3)
  })
})

describe('whether a refusal may be that of a repetition', () => {
  const table: [boolean, string, [Take, ...Take[]]][] = [
    [false, 'nothing', [CONDITION]],
    [false, 'a throttle', [THROTTLED, CONDITION]],
    [false, 'a 429', [{ status: 429, body: '' }, CONDITION]],
    [false, 'a clock that was off', [expired(NOW + 600_000), CONDITION]],
    [true, 'a broken connection', ['lost', CONDITION]],
    [true, 'a 500', [BROKEN, CONDITION]],
    [true, 'an answer that broke', [{ status: 200, body: '{', broken: true }, CONDITION]],
    [true, 'a 500 and a throttle', [BROKEN, THROTTLED, CONDITION]],
    [true, 'a 500 and a clock that was off', [BROKEN, expired(NOW + 600_000), CONDITION]],
  ]
  for (const [mayHaveLanded, what, script] of table) {
    it(`after ${what}: ${mayHaveLanded}`, async () => {
      expect(await refusalOf(dynamodb(scriptedService(script)).call(GET))).toMatchObject({ mayHaveLanded })
    })
  }
})

describe('the pauses', () => {
  it('are drawn from nothing to the whole: 100 and 200 ms, after a throttle 500 and 1,000', async () => {
    for (const [take, drawn, pauses] of [
      ['lost', 0, [0, 0]],
      ['lost', 0x8000_0000, [50, 100]],
      ['lost', 0xffff_ffff, [99, 199]],
      [THROTTLED, 0, [0, 0]],
      [THROTTLED, 0xffff_ffff, [499, 999]],
    ] as [Take, number, number[]][]) {
      const service = scriptedService([take], drawn)
      await expect(dynamodb(service).call(GET)).rejects.toMatchObject({ code: 'Unavailable' })
      expect(service.pauses).toEqual(pauses)
    }
  })

  it('count: one that would end after 15 s is not taken', async () => {
    const service = scriptedService([THROTTLED])
    const { fetch } = service.options
    service.options.fetch = (input, init) => {
      service.clock.at += 7_300
      return fetch(input, init)
    }
    await expect(dynamodb(service).call(GET)).rejects.toThrow('was throttled (attempt 2)')
    expect(service.pauses).toEqual([499])
  })
})

describe('the time a call may take', () => {
  afterEach(() => vi.useRealTimers())

  it('is 5 s an attempt, 15 s in all with the pauses, and the last attempt gets what is left', async () => {
    const { service, started } = onFakeTimers(['silent'])
    await expect(elapsing(dynamodb(service).call(GET))).rejects.toThrow('dynamodb GetItem gave no answer in time (attempt 3)')
    expect(service.sent).toHaveLength(3)
    expect(Date.now() - started).toBe(15_000)
  })

  it('covers the body of a JSON answer', async () => {
    const { service, started } = onFakeTimers([OK])
    const { fetch } = service.options
    service.options.fetch = async (input, init) => {
      await fetch(input, init)
      return new Response(
        new ReadableStream({ start: (stream) => init?.signal?.addEventListener('abort', () => stream.error(init.signal?.reason)) }),
      )
    }
    await expect(elapsing(dynamodb(service).call({ ...GET, repeatable: false }))).rejects.toThrow('gave no answer in time (attempt 1)')
    expect(Date.now() - started).toBe(5_000)
  })

  it('ends for S3 with the headers: a large object is read at its reader’s pace', async () => {
    const { service } = onFakeTimers([{ status: 200, body: 'large' }])
    let signal: AbortSignal | null | undefined
    const { fetch } = service.options
    service.options.fetch = (input, init) => {
      signal = init?.signal
      return fetch(input, init)
    }
    const answer = await s3Client({ ...service.options, bucket: 'b' }).send({ method: 'GET', key: 'k' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(signal?.aborted).toBe(false)
    expect(await answer.text()).toBe('large')
  })

  it('a silent attempt may have landed', async () => {
    const { service } = onFakeTimers(['silent', CONDITION])
    expect(await refusalOf(elapsing(dynamodb(service).call(GET)))).toMatchObject({ mayHaveLanded: true })
  })
})

describe('a clock that is off', () => {
  for (const [which, off] of [
    ['behind', 600_000],
    ['ahead', -600_000],
  ] as const) {
    it(`${which}: is learnt from the refusal's date, and the call signed again`, async () => {
      const service = scriptedService([expired(NOW + off), OK])
      expect(await dynamodb(service).call(GET)).toEqual({ Item: {} })
      expect(service.sent.map((one) => one.headers.get('x-amz-date'))).toEqual(['20260102T030405Z', amzDate(NOW + off)])
      expect(service.pauses).toEqual([])
    })
  }

  it('is known to the calls after it', async () => {
    const service = scriptedService([expired(NOW + 600_000), OK])
    const client = dynamodb(service)
    await client.call(GET)
    service.clock.at += 1_000
    await client.call(GET)
    expect(service.sent.map((one) => one.headers.get('x-amz-date')).at(-1)).toBe(amzDate(NOW + 601_000))
    expect(service.sent).toHaveLength(3)
  })

  it('is learnt anew when it is set right', async () => {
    const service = scriptedService([expired(NOW + 600_000), OK, expired(NOW), OK])
    const client = dynamodb(service)
    await client.call(GET)
    await client.call(GET)
    expect(service.sent.map((one) => one.headers.get('x-amz-date')).at(-1)).toBe(amzDate(NOW))
  })

  it('is none of the three attempts, and is corrected once in a call', async () => {
    const service = scriptedService([expired(NOW + 600_000), 'lost', 'lost', OK])
    expect(await dynamodb(service).call(GET)).toEqual({ Item: {} })

    const hopeless = scriptedService([expired(NOW + 600_000)])
    expect(await refusalOf(dynamodb(hopeless).call(GET))).toMatchObject({ type: 'InvalidSignatureException' })
    expect(hopeless.sent).toHaveLength(2)
  })

  it('is not learnt from an answer that does not complain of it', async () => {
    const date = new Date(NOW + 600_000).toUTCString()
    const service = scriptedService([
      { ...OK, headers: { date } },
      { ...CONDITION, headers: { date } },
      { ...BROKEN, headers: { date } },
      OK,
    ])
    const client = dynamodb(service)
    await client.call(GET)
    await refusalOf(client.call(GET))
    await client.call(GET)
    for (const one of service.sent) expect(one.headers.get('x-amz-date')).toMatch(/^20260102T03040[5-9]Z$/)
  })

  it('is not what a wrong secret is refused for', async () => {
    const wrong = { __type: 'InvalidSignatureException', message: 'The request signature we calculated does not match' }
    const service = scriptedService([
      { status: 400, headers: { date: new Date(NOW + 600_000).toUTCString() }, body: JSON.stringify(wrong) },
    ])
    expect(await refusalOf(dynamodb(service).call(GET))).toMatchObject({ type: 'InvalidSignatureException' })
    expect(service.sent).toHaveLength(1)
  })

  it('without a date in the refusal is a refusal', async () => {
    const service = scriptedService([{ ...expired(NOW), headers: {} }])
    expect(await refusalOf(dynamodb(service).call(GET))).toMatchObject({ type: 'InvalidSignatureException' })
    expect(service.sent).toHaveLength(1)
  })

  it('S3 has types for it, and of a HEAD the 403 with a date far from ours', async () => {
    const date = new Date(NOW + 1_200_000).toUTCString()
    const skewed = { status: 403, headers: { date }, body: '<Error><Code>RequestTimeTooSkewed</Code></Error>' }
    for (const [method, take] of [
      ['GET', skewed],
      ['HEAD', { status: 403, headers: { date }, body: null }],
    ] as const) {
      const service = scriptedService([take, { status: 200, body: null }])
      await s3Client({ ...service.options, bucket: 'b' }).send({ method, key: 'k' })
      expect(service.sent.map((one) => one.headers.get('x-amz-date')).at(-1), method).toBe(amzDate(NOW + 1_200_000))
    }
    const near = scriptedService([{ status: 403, headers: { date: new Date(NOW + 60_000).toUTCString() }, body: null }])
    const refusal = refusalOf(s3Client({ ...near.options, bucket: 'b' }).send({ method: 'HEAD', key: 'k' }))
    expect(await refusal).toMatchObject({ type: 'AccessDenied' })
    expect(near.sent).toHaveLength(1)
  })
})

describe('what a refusal tells', () => {
  it('nothing of what was signed: the words of a refusal about the signature hold the session token', async () => {
    const words = 'The Canonical String for this request should have been x-amz-security-token:TOKEN host:dynamodb.eu-west-1'
    for (const field of ['message', 'Message']) {
      const service = scriptedService([{ status: 400, body: JSON.stringify({ __type: 'InvalidSignatureException', [field]: words }) }])
      const error = await refusalOf(dynamodb(service).call(GET))
      expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/TOKEN|eu-west-1/)
    }
  })

  it('its type and HTTP status, never a type that is no name', async () => {
    const cases: [string, Scripted][] = [
      ['ValidationException', { status: 400, body: '{"__type":"com.amazon.coral.validate#ValidationException"}' }],
      ['ValidationException', { status: 400, body: '{"__type":"ValidationException:http://internal/coral#x/"}' }],
      ['ParameterNotFound', { status: 400, headers: { 'x-amzn-errortype': 'ParameterNotFound:http://internal/' }, body: '' }],
      ['HTTP 404', { status: 404, body: '<html>no such page</html>' }],
      ['HTTP 400', { status: 400, body: '{"__type":"see https://10.0.0.1/"}' }],
      ['HTTP 400', { status: 400, body: '{"__type":7}' }],
      ['HTTP 302', { status: 302, headers: { location: 'https://elsewhere.example/' }, body: '' }],
    ]
    for (const [type, take] of cases) {
      const service = scriptedService([take])
      const error = await refusalOf(dynamodb(service).call(GET))
      expect(error).toMatchObject({ type, message: `${type}: dynamodb GetItem was refused with HTTP ${take.status}` })
      expect(service.sent).toMatchObject([{ redirect: 'manual' }])
    }
  })

  it('a refusal over 1 MiB is dropped, and known by its header or status alone; one with a whole item is read', async () => {
    const padding = 'x'.repeat(1024 * 1024)
    const huge = scriptedService([
      {
        status: 400,
        headers: { 'x-amzn-errortype': 'ValidationException' },
        body: JSON.stringify({ __type: 'a#ThrottlingException', padding }),
      },
    ])
    expect(await refusalOf(dynamodb(huge).call(GET))).toMatchObject({ type: 'ValidationException', body: {} })
    expect(huge.unread()).toBe(0)

    const item = 'x'.repeat(550_000)
    const large = scriptedService([{ status: 400, body: JSON.stringify({ __type: 'a#ConditionalCheckFailedException', item }) }])
    expect(await refusalOf(dynamodb(large).call(GET))).toMatchObject({ body: { item } })
  })
})

function dynamodb({ options }: ScriptedService) {
  return jsonClient({ ...options, service: 'dynamodb' })
}

function refused(type: string): Scripted {
  return { status: 400, body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no' }) }
}

function expired(date: number): Scripted {
  const message = `Signature ${date > NOW ? 'expired' : 'not yet current'}: ...`
  const headers = { date: new Date(date).toUTCString() }
  return { status: 400, headers, body: JSON.stringify({ __type: 'com.amazon.coral.service#InvalidSignatureException', message }) }
}

function amzDate(at: number): string {
  return `${new Date(at).toISOString().replace(/[:-]/g, '').slice(0, 15)}Z`
}

async function refusalOf(call: Promise<unknown>): Promise<AwsError> {
  const error = await call.then(() => expect.unreachable('it was not refused')).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AwsError)
  return error instanceof AwsError ? error : expect.unreachable('it was no AwsError')
}

function onFakeTimers(script: [Take, ...Take[]]) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: NOW })
  const service = scriptedService(script)
  const { pause: _, ...options } = service.options
  service.options = { ...options, clock: { now: () => Date.now() } }
  return { service, started: Date.now() }
}

/** Lets fake time pass from timer to timer until the call has ended. */
async function elapsing<T>(call: Promise<T>): Promise<T> {
  let ended = false
  const watched = call.finally(() => {
    ended = true
  })
  watched.catch(() => undefined)
  while (!ended) {
    await scheduler.wait(5) // real ms: signing is WebCrypto's work, and takes time no timer knows of
    if (!ended && vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync()
  }
  return watched
}
