import { describe, expect, it } from 'vitest'
import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import { PortError } from '../../ports/error.ts'
import { AwsError, type JsonCall } from '../aws/aws.ts'
import { ssmSecrets } from './secrets.ts'

const PATH = 'internal/oidc/state-secret'
const NAME = `/sluis/acme/${PATH}`

type Service = (call: JsonCall) => Record<string, unknown>

/** An adapter over a service that answers as the test says, and what was asked of it. */
function arrange(service: Service, options: { exclusively?: boolean; keyId?: string } = {}) {
  const calls: JsonCall[] = []
  const turns: string[] = []
  const client = {
    async call(call: JsonCall) {
      calls.push(call)
      return service(call)
    },
  }
  const exclusively = async <T>(address: string, work: (stillHeld: () => void) => Promise<T>) => {
    turns.push(address)
    return await work(() => undefined)
  }
  const secrets = ssmSecrets({
    client,
    instance: 'acme',
    ...(options.exclusively === false ? {} : { exclusively }),
    ...(options.keyId === undefined ? {} : { keyId: options.keyId }),
  })
  return { secrets, calls, turns, operations: () => calls.map(({ operation }) => operation) }
}

function parameter(Name: string, Value: string, Version = 1): Record<string, unknown> {
  return { Name, Value, Version, LastModifiedDate: 1_796_000_000.123, Type: 'SecureString', ARN: 'arn:x', DataType: 'text' }
}

/** GetParameters where every name is there, with a value made of it. */
const everything: Service = ({ input }) => ({
  Parameters: namesOf(input).map((name) => parameter(name, documentOf(name))),
  InvalidParameters: [],
})
const namesOf = (input: Record<string, unknown>) => (Array.isArray(input.Names) ? input.Names.map(String) : [])
const documentOf = (text: string) => JSON.stringify({ value: btoa(text) })

function refusal(type: string, { mayHaveLanded = false }: { mayHaveLanded?: boolean } = {}): AwsError {
  return new AwsError(type, 'the words of the service', { status: 400, mayHaveLanded })
}

const lost = () => new PortError('Unavailable', 'ssm PutParameter was not answered')

describe('reads of one turn', () => {
  it('travel together, at most ten names a call, each name once', async () => {
    const { secrets, calls } = arrange(everything)
    const paths = Array.from({ length: 23 }, (_, n) => `internal/oidc/clients/c${n}`)
    const read = await Promise.all([...paths, ...paths].map((path) => secrets.get(path)))
    expect(read.map(({ value }) => fromUtf8(value))).toEqual([...paths, ...paths].map((path) => `/sluis/acme/${path}`))
    expect(calls.map(({ input }) => namesOf(input).length)).toEqual([10, 10, 3])
    expect(calls.every(({ operation, input }) => operation === 'GetParameters' && input.WithDecryption === true)).toBe(true)
  })

  it('travel together however many functions each came through', async () => {
    const { secrets, calls } = arrange(everything)
    const through = async (functions: number) => {
      for (let awaited = 0; awaited < functions; awaited++) await null
      return await secrets.get(`internal/oidc/through${functions}`)
    }
    await Promise.all([through(0), through(3), through(6)])
    expect(calls).toHaveLength(1)
  })

  it('share nothing with those of a later turn', async () => {
    const { secrets, calls } = arrange(everything)
    const [first, second] = await Promise.all([secrets.get(PATH), secrets.get(PATH)])
    first.value.fill(0)
    expect(fromUtf8(second.value)).toBe(NAME)
    await secrets.get(PATH)
    expect(calls).toHaveLength(2)
  })

  it('that are denied together are asked one by one, so that one missing permission hides no other secret', async () => {
    const { secrets, calls } = arrange((call) => {
      if (namesOf(call.input).includes('/sluis/acme/internal/oidc/forbidden')) throw refusal('AccessDeniedException')
      return everything(call)
    })
    const [allowed, forbidden] = await Promise.allSettled([secrets.get(PATH), secrets.get('internal/oidc/forbidden')])
    expect(allowed).toMatchObject({ status: 'fulfilled' })
    expect(forbidden).toMatchObject({
      reason: {
        code: 'Unavailable',
        message: expect.stringMatching(/no permission for parameter \/sluis\/acme\/internal\/oidc\/forbidden/),
      },
    })
    expect(calls.map(({ input }) => namesOf(input).length)).toEqual([2, 1, 1])
  })

  it('that nobody answers fail together', async () => {
    const { secrets, calls } = arrange(() => {
      throw lost()
    })
    const read = await Promise.allSettled([secrets.get(PATH), secrets.get('internal/oidc/other')])
    expect(read.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls).toHaveLength(1)
  })

  it('are NotFound only where SSM says so: a name it does not answer for is Unavailable', async () => {
    const { secrets } = arrange(() => ({ Parameters: [], InvalidParameters: ['/sluis/acme/internal/oidc/absent'] }))
    const read = await Promise.allSettled([secrets.get('internal/oidc/absent'), secrets.get(PATH)])
    expect(read).toMatchObject([
      { reason: { code: 'NotFound' } },
      { reason: { code: 'Unavailable', message: expect.stringContaining(NAME) } },
    ])
  })
})

describe('a parameter', () => {
  it.each<[string, string, string]>([
    ['plain text', PATH, 's3cret'],
    ['a value that is no base64', PATH, '{"value":"s3cret!"}'],
    ['base64url', PATH, '{"value":"_-s3cret"}'],
    ['a document without a value', PATH, '{"secret":"s3cret"}'],
    ['a value that is no text', PATH, '{"value":["s3cret"]}'],
    ['a list', PATH, '["s3cret"]'],
    ['no JSON, where a document belongs', 'external/oidc/rp', 's3cret'],
    ['a list, where a document belongs', 'internal/cloudflare/main/minter', '["s3cret"]'],
  ])('that holds %s is Unavailable, with its name and what is expected, and never its value', async (_what, path, text) => {
    const { secrets } = arrange(() => ({ Parameters: [parameter(`/sluis/acme/${path}`, text)], InvalidParameters: [] }))
    const error = await secrets.get(path).then(
      () => expect.unreachable(),
      (refused: PortError) => refused,
    )
    expect(error.code).toBe('Unavailable')
    expect(error.message).toContain(`parameter /sluis/acme/${path} does not hold`)
    expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain('s3cret')
  })

  it('that is answered in another shape is Unavailable, and its value in no message', async () => {
    const { secrets } = arrange(() => ({ Parameters: [{ ...parameter(NAME, 's3cret'), Version: 's3cret' }], InvalidParameters: [] }))
    const error: unknown = await secrets.get(PATH).catch((refused: unknown) => refused)
    expect(error).toMatchObject({ code: 'Unavailable' })
    expect(String(error instanceof Error ? `${error.stack} ${error.cause}` : error)).not.toContain('s3cret')
  })

  it('whose version before was no secret has no value before it', async () => {
    const { secrets } = arrange(({ operation }) =>
      operation === 'GetParameter'
        ? { Parameter: parameter(NAME, 'seeded as plain text', 1) }
        : { Parameters: [parameter(NAME, documentOf('mended'), 2)], InvalidParameters: [] },
    )
    const secret = await secrets.get(PATH, { previous: true })
    expect(fromUtf8(secret.value)).toBe('mended')
    expect(secret).not.toHaveProperty('previous')
  })

  it('whose version before was pruned has no value before it', async () => {
    const { secrets } = arrange(({ operation }) => {
      if (operation === 'GetParameter') throw refusal('ParameterVersionNotFound')
      return { Parameters: [parameter(NAME, documentOf('kept'), 101)], InvalidParameters: [] }
    })
    expect(await secrets.get(PATH, { previous: true })).not.toHaveProperty('previous')
  })

  it('whose version before cannot be read is Unavailable, so that nobody takes a secret for refused', async () => {
    const { secrets } = arrange(({ operation }) => {
      if (operation === 'GetParameter') throw refusal('AccessDeniedException')
      return { Parameters: [parameter(NAME, documentOf('kept'), 2)], InvalidParameters: [] }
    })
    await expect(secrets.get(PATH, { previous: true })).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('is modified at the millisecond of its date, its version is its number, and the one before is read only when asked for', async () => {
    const { secrets, operations } = arrange(() => ({ Parameters: [parameter(NAME, documentOf('x'), 7)], InvalidParameters: [] }))
    expect(await secrets.get(PATH)).toEqual({ value: utf8('x'), version: '7', modified: 1_796_000_000_123 })
    expect(operations()).toEqual(['GetParameters'])
  })
})

describe('a write', () => {
  it('of a new secret is one call that overwrites nothing, and waits for no turn', async () => {
    const { secrets, calls, turns } = arrange(() => ({ Version: 1 }), { keyId: 'alias/sluis-acme' })
    expect(await secrets.put(PATH, utf8('x'))).toBe('1')
    const input = { Name: NAME, Value: '{"value":"eA=="}', Type: 'SecureString', Overwrite: false, KeyId: 'alias/sluis-acme' }
    expect(calls).toEqual([{ operation: 'PutParameter', input, repeatable: true }])
    expect(turns).toEqual([])
  })

  it('over a secret is made in its turn, once, and never repeated by the client', async () => {
    const { secrets, calls, turns } = arrange(existing(4))
    expect(await secrets.put(PATH, utf8('x'))).toBe('5')
    expect(calls.map(({ operation, repeatable, input }) => [operation, input.Overwrite, repeatable])).toEqual([
      ['PutParameter', false, true],
      ['GetParameter', undefined, undefined],
      ['PutParameter', true, false],
    ])
    expect(turns).toEqual([PATH])
  })

  it("of a Google Workspace's key waits for the turn of the one place its addresses have", async () => {
    const { secrets, turns } = arrange(existing(1))
    await secrets.put('credentials/google/workspace/C01/r1', utf8('x'))
    await secrets.delete('credentials/google/workspace/C01/r2')
    expect(turns).toEqual(Array(2).fill('internal/google/workspaces/C01/key'))
  })

  it('is not sent once the turn is over', async () => {
    const calls: string[] = []
    const secrets = ssmSecrets({
      client: {
        async call({ operation }) {
          calls.push(operation)
          return operation === 'GetParameter' ? { Parameter: parameter(NAME, 'sealed', 1) } : expect.unreachable('the turn is over')
        },
      },
      instance: 'acme',
      exclusively: (_address, work) =>
        work(() => {
          throw new PortError('Unavailable', 'lost')
        }),
    })
    await expect(secrets.putIfVersion(PATH, utf8('x'), '1')).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(secrets.delete(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(calls).toEqual(['GetParameter'])
  })

  it('over a version is Unsupported without turns, and nothing is sent', async () => {
    const { secrets, calls } = arrange(() => expect.unreachable(), { exclusively: false })
    await expect(secrets.putIfVersion(PATH, utf8('x'), '1')).rejects.toMatchObject({ code: 'Unsupported' })
    expect(calls).toEqual([])
  })

  it('of what is no JSON object, where a document belongs, is Unsupported, and nothing is sent', async () => {
    const { secrets, calls } = arrange(() => expect.unreachable())
    for (const path of ['external/oidc/rp', 'external/slack/alerts', 'internal/cloudflare/main/minter', 'internal/cloudflare/minted/p']) {
      for (const text of ['', 's3cret', '"s3cret"', 'null', '1', '[]', '{', '{"a":1} x']) {
        const refused = secrets.put(path, utf8(text))
        await expect(refused, `${text} at ${path}`).rejects.toMatchObject({ code: 'Unsupported' })
        await expect(refused).rejects.not.toThrow('s3cret')
      }
      await expect(secrets.put(path, new Uint8Array([0x7b, 0xff, 0x7d]))).rejects.toMatchObject({ code: 'Unsupported' })
    }
    expect(calls).toEqual([])
  })

  it.each([
    ['4,096 bytes as stored', 3_063, undefined],
    ['one step more', 3_064, 'Advanced'],
    ['all the port takes, 8,192 as stored', 6_135, 'Advanced'],
  ])('of %s', async (_what, length, tier) => {
    const { secrets, calls } = arrange(() => ({ Version: 1 }))
    await secrets.put(PATH, new Uint8Array(length).fill(0xff))
    expect(calls[0]?.input.Tier).toBe(tier)
  })

  it.each([
    'ParameterMaxVersionLimitExceeded',
    'ParameterLimitExceeded',
    'InvalidKeyId',
    'HierarchyTypeMismatchException',
    'AccessDeniedException',
  ])('that SSM refuses with %s is Unavailable, with the parameter and what to do', async (type) => {
    const { secrets } = arrange(() => {
      throw refusal(type)
    })
    const message = expect.stringMatching(/parameter \/sluis\/acme\/internal\/oidc\/state-secret.{20,}/)
    await expect(secrets.put(PATH, utf8('x'))).rejects.toMatchObject({
      code: 'Unavailable',
      message,
      cause: expect.objectContaining({ type }),
    })
  })

  it('of an instance that is none is refused at once', () => {
    expect(() => ssmSecrets({ client: { call: () => expect.unreachable() }, instance: 'internal' })).toThrow(
      expect.objectContaining({ code: 'Unsupported' }),
    )
  })
})

describe('a write whose answer was lost', () => {
  it('of a new secret is taken as landed when its value stands, as the first version', async () => {
    for (const refused of [refusal('ParameterAlreadyExists', { mayHaveLanded: true }), lost()]) {
      const { secrets } = arrange(ambiguous(refused, { 1: 'ours' }))
      expect(await secrets.putIfVersion(PATH, utf8('ours'), null)).toBe('1')
    }
  })

  it('of a new secret is Conflict when another value stands, or its own as another version, and Unavailable when none does', async () => {
    const refused = refusal('ParameterAlreadyExists', { mayHaveLanded: true })
    for (const standing of [{ 1: 'theirs' }, { 2: 'ours' }]) {
      const { secrets } = arrange(ambiguous(refused, standing))
      await expect(secrets.putIfVersion(PATH, utf8('ours'), null)).rejects.toMatchObject({ code: 'Conflict' })
    }
    const { secrets } = arrange(ambiguous(lost(), {}))
    await expect(secrets.putIfVersion(PATH, utf8('ours'), null)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('of a new secret is Conflict, and nothing is read, when no answer was lost', async () => {
    const { secrets, operations } = arrange(ambiguous(refusal('ParameterAlreadyExists'), { 1: 'ours' }))
    await expect(secrets.putIfVersion(PATH, utf8('ours'), null)).rejects.toMatchObject({ code: 'Conflict' })
    expect(operations()).toEqual(['PutParameter'])
  })

  it('over a version is sent once: what stands as the next version says whether it landed', async () => {
    const landed = arrange(ambiguous(lost(), { 4: 'before', 5: 'ours' }))
    expect(await landed.secrets.putIfVersion(PATH, utf8('ours'), '4')).toBe('5')
    const not = arrange(ambiguous(lost(), { 4: 'before' }))
    await expect(not.secrets.putIfVersion(PATH, utf8('ours'), '4')).rejects.toMatchObject({ code: 'Unavailable' })
    const theirs = arrange(ambiguous(lost(), { 4: 'before', 5: 'theirs' }))
    await expect(theirs.secrets.putIfVersion(PATH, utf8('ours'), '4')).rejects.toMatchObject({ code: 'Unavailable' })
    for (const { operations } of [landed, not, theirs]) expect(operations()).toEqual(['GetParameter', 'PutParameter', 'GetParameter'])
  })

  it('over a version, and which another has written over since, is taken as landed', async () => {
    const { secrets } = arrange((call) =>
      call.operation === 'GetParameter' && call.input.Name === NAME
        ? { Parameter: parameter(NAME, 'sealed', 4) }
        : ambiguous(lost(), { 5: 'ours', 6: 'theirs' })(call),
    )
    expect(await secrets.putIfVersion(PATH, utf8('ours'), '4')).toBe('5')
  })

  it('over a version is Unavailable when the number answered is not the next one: somebody wrote without a turn', async () => {
    const { secrets } = arrange(({ operation }) =>
      operation === 'GetParameter' ? { Parameter: parameter(NAME, 'sealed', 4) } : { Version: 6 },
    )
    await expect(secrets.putIfVersion(PATH, utf8('x'), '4')).rejects.toMatchObject({
      code: 'Unavailable',
      message: expect.stringContaining('someone else'),
    })
  })
})

describe('a listing', () => {
  it('follows empty pages, and names only what the layout has a place for', async () => {
    const pages: Record<string, Record<string, unknown>> = {
      '': { Parameters: [{ Name: NAME }, { Name: '/sluis/acme/private/x' }, { Name: '/sluis/acme/internal/config/x' }], NextToken: 'a' },
      a: { Parameters: [], NextToken: 'b' },
      b: { Parameters: [{ Name: '/sluis/acme/external/oidc/rp' }] },
    }
    const { secrets, calls } = arrange(({ input }) => pages[String(input.NextToken ?? '')] ?? expect.unreachable())
    expect(await secrets.list('')).toEqual(['external/oidc/rp', PATH])
    expect(calls[0]).toEqual({
      operation: 'GetParametersByPath',
      input: { Path: '/sluis/acme', Recursive: true, WithDecryption: false, MaxResults: 10 },
    })
  })

  it('of credentials/, whose addresses SSM does not keep, is Unsupported rather than empty', async () => {
    const { secrets } = arrange(() => expect.unreachable())
    await expect(secrets.list('credentials/github')).rejects.toMatchObject({ code: 'Unsupported' })
  })
})

/** A parameter at a version: it is not created again, and a write over it makes the next. */
function existing(version: number): Service {
  return ({ operation, input }) => {
    if (operation === 'GetParameter') return { Parameter: parameter(NAME, 'sealed', version) }
    if (operation === 'DeleteParameter') return {}
    if (input.Overwrite === true) return { Version: version + 1 }
    throw refusal('ParameterAlreadyExists')
  }
}

/** Every write ends as `end`; reads find these versions, `Name` alone the lowest. */
function ambiguous(end: Error, versions: Record<number, string>): Service {
  return ({ operation, input }) => {
    if (operation === 'PutParameter') throw end
    const [, selected = Object.keys(versions)[0]] = String(input.Name).split(':')
    const kept = versions[Number(selected)]
    if (kept === undefined) throw refusal('ParameterVersionNotFound')
    return { Parameter: parameter(NAME, documentOf(kept), Number(selected)) }
  }
}
