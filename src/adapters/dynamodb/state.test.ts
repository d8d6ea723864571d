import { describe, expect, it } from 'vitest'
import { bytes, random } from '../../../test/conformance/arrange.ts'
import { MINUTE, testClock } from '../../../test/conformance/state/subject.ts'
import { PortError } from '../../ports/error.ts'
import type { Rev } from '../../ports/state.ts'
import { AwsError } from '../aws/aws.ts'
import { fakeTables } from './fake-tables.ts'
import { type DynamodbStateOptions, dynamodbState } from './state.ts'

const TABLE = 'sluis-acme-oidc'

function arrange(options: Partial<DynamodbStateOptions> = {}) {
  const client = fakeTables()
  const clock = testClock()
  const open = (more: Partial<DynamodbStateOptions> = {}) =>
    dynamodbState({ client, instance: 'acme', module: 'oidc', clock, random, ...options, ...more })
  return { client, clock, open, state: open(), items: client.items(TABLE) }
}

type Arranged = ReturnType<typeof arrange>

/**
 * The answer to the next write is lost after it was carried out; then `between` happens, and the client sends the call again. What the
 * client does by itself (src/adapters/aws), done here in the place of it.
 */
function loseNextAnswer({ client }: Arranged, between: () => Promise<unknown> = async () => {}): void {
  const { call } = client
  client.call = async (lost) => {
    client.call = call
    await call(lost).catch((error: unknown) => {
      if (!(error instanceof AwsError)) throw error
    })
    await between()
    return call(lost).catch((error: unknown) => {
      if (error instanceof AwsError) throw new AwsError(error.type, '', { status: 400, body: { ...error.body }, mayHaveLanded: true })
      throw error
    })
  }
}

describe('a write whose answer was lost', () => {
  it('create that landed is success, and the record is its own', async () => {
    const arranged = arrange()
    loseNextAnswer(arranged)
    const rev = await arranged.state.create('tok.a', bytes('x'), MINUTE)
    expect(await arranged.state.get('tok.a')).toEqual({ key: 'tok.a', value: bytes('x'), rev })
  })

  it('update that landed is success, and the record is its own', async () => {
    const arranged = arrange()
    const first = await arranged.state.create('tok.a', bytes('x'), MINUTE)
    loseNextAnswer(arranged)
    const rev = await arranged.state.update('tok.a', bytes('y'), MINUTE, first)
    expect(await arranged.state.get('tok.a')).toEqual({ key: 'tok.a', value: bytes('y'), rev })
  })

  it('create over a live record is Exists, and update over a revision that moved Conflict, for neither landed', async () => {
    const arranged = arrange()
    const { state } = arranged
    const rev = await state.create('tok.a', bytes('x'), MINUTE)
    loseNextAnswer(arranged)
    await expect(state.create('tok.a', bytes('y'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })
    loseNextAnswer(arranged)
    await expect(state.update('tok.a', bytes('y'), MINUTE, '7' as Rev)).rejects.toMatchObject({ code: 'Conflict' })
    expect((await state.get('tok.a'))?.rev).toBe(rev)
  })

  it('put and delete are done once more, to the same end', async () => {
    const arranged = arrange()
    const { state } = arranged
    loseNextAnswer(arranged)
    const rev = await state.put('tok.a', bytes('x'), MINUTE)
    expect(await state.get('tok.a')).toEqual({ key: 'tok.a', value: bytes('x'), rev })
    loseNextAnswer(arranged)
    await state.delete('tok.a')
    expect(await state.get('tok.a')).toBeNull()
  })

  it('a conditional deletion that finds the record gone is Unavailable: it may have been its own doing', async () => {
    const arranged = arrange()
    const rev = await arranged.state.create('tok.a', bytes('x'), MINUTE)
    loseNextAnswer(arranged)
    await expect(arranged.state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await arranged.state.get('tok.a')).toBeNull()
  })

  it('a conditional deletion that finds what was written meanwhile, and has died since, is Unavailable too', async () => {
    const arranged = arrange()
    const { state, clock, client } = arranged
    const rev = await state.create('tok.a', bytes('x'), MINUTE)
    const { call } = client
    loseNextAnswer(arranged, async () => {
      client.call = call
      clock.advance(-MINUTE * 1_000) // It is written by a clock that is behind, and dead by ours.
      await arranged.open().create('tok.a', bytes('y'), 1)
      clock.advance(MINUTE * 1_000)
    })
    await expect(state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('a conditional deletion that finds another live record is Conflict', async () => {
    const arranged = arrange()
    const rev = await arranged.state.create('tok.a', bytes('x'), MINUTE)
    loseNextAnswer(arranged, () => arranged.open().create('tok.a', bytes('y'), MINUTE))
    await expect(arranged.state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'Conflict' })
    expect((await arranged.state.get('tok.a'))?.value).toEqual(bytes('y'))
  })

  it('a conditional deletion of an expired record that still stands at its revision is NotFound: it deleted nothing', async () => {
    const arranged = arrange()
    const rev = await arranged.state.create('tok.a', bytes('x'), MINUTE)
    arranged.clock.advance(MINUTE * 1_000)
    loseNextAnswer(arranged)
    await expect(arranged.state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'NotFound' })
  })
})

describe('an engine that sends no old item with its refusal', () => {
  function silent() {
    const arranged = arrange()
    const { call } = arranged.client
    arranged.client.call = (asked) =>
      call({ ...asked, input: { ...asked.input, ReturnValuesOnConditionCheckFailure: undefined } }).catch((error: unknown) => {
        if (error instanceof AwsError) throw new AwsError(error.type, '', { status: 400, mayHaveLanded: true })
        throw error
      })
    return arranged
  }

  it('is asked for it: Exists, Conflict and NotFound are as ever', async () => {
    const { state } = silent()
    await state.create('tok.a', bytes('x'), MINUTE)
    await expect(state.create('tok.a', bytes('y'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })
    await expect(state.update('tok.a', bytes('y'), MINUTE, '7' as Rev)).rejects.toMatchObject({ code: 'Conflict' })
    await expect(state.update('tok.none', bytes('y'), MINUTE, '7' as Rev)).rejects.toMatchObject({ code: 'NotFound' })
    await expect(state.deleteIfRevision('tok.a', '7' as Rev)).rejects.toMatchObject({ code: 'Conflict' })
  })

  it('is asked for it: a write knows its own revision', async () => {
    const arranged = silent()
    loseNextAnswer(arranged)
    const rev = await arranged.state.create('tok.a', bytes('x'), MINUTE)
    expect((await arranged.state.get('tok.a'))?.rev).toBe(rev)
  })
})

describe('a revision that is none', () => {
  it('is asked of no condition', async () => {
    const { client, state } = arrange()
    await state.create('tok.a', bytes('x'), MINUTE)
    client.calls.length = 0
    for (const rev of ['', '0', 'abc', '18446744073709551616'] as Rev[]) {
      await expect(state.update('tok.a', bytes('y'), MINUTE, rev)).rejects.toMatchObject({ code: 'Conflict' })
      await expect(state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'Conflict' })
      await expect(state.deleteIfRevision('tok.b', rev)).rejects.toMatchObject({ code: 'NotFound' })
    }
    expect(new Set(client.calls.map(({ operation }) => operation))).toEqual(new Set(['GetItem']))
  })
})

describe('an item that is no record of the layout', () => {
  const place = { pk: { S: 'token' }, sk: { S: 'a' } }

  function broken() {
    const arranged = arrange()
    arranged.items.set(JSON.stringify(['token', 'a']), { ...place, lkey: { S: 'tok.a' }, rev: { N: '7' } })
    return arranged
  }

  it('is absent to reads, and to update and deleteIfRevision', async () => {
    const { state } = broken()
    expect(await state.get('tok.a')).toBeNull()
    expect(await state.list('tok.')).toEqual({ entries: [] })
    await expect(state.update('tok.a', bytes('x'), MINUTE, '9' as Rev)).rejects.toMatchObject({ code: 'NotFound' })
    await expect(state.deleteIfRevision('tok.a', '9' as Rev)).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('is in the way of create, which says where and what to do, and not whose it is', async () => {
    const { state } = broken()
    const refused = state.create('tok.a', bytes('x'), MINUTE)
    await expect(refused).rejects.toMatchObject({
      code: 'Unavailable',
      message: `table ${TABLE} holds an item of kind token that is no record: delete or mend it`,
    })
  })

  it('is replaced by put and removed by delete', async () => {
    const { state } = broken()
    const rev = await state.put('tok.a', bytes('x'), MINUTE)
    expect((await state.get('tok.a'))?.rev).toBe(rev)

    const other = broken()
    await other.state.delete('tok.a')
    await other.state.create('tok.a', bytes('x'), MINUTE)
  })
})

describe('a table that can not be asked', () => {
  const calls: [string, (state: Arranged['state']) => Promise<unknown>][] = [
    ['get', (state) => state.get('tok.a')],
    ['put', (state) => state.put('tok.a', bytes('x'), MINUTE)],
    ['create', (state) => state.create('tok.a', bytes('x'), MINUTE)],
    ['update', (state) => state.update('tok.a', bytes('x'), MINUTE, '7' as Rev)],
    ['delete', (state) => state.delete('tok.a')],
    ['deleteIfRevision', (state) => state.deleteIfRevision('tok.a', '7' as Rev)],
    ['peekRevision', (state) => state.peekRevision('tok.a')],
    ['list in one kind', (state) => state.list('tok.')],
    ['list of several', (state) => state.list('')],
  ]

  it.each(calls)('is Unavailable to %s when it is missing, never NotFound, and is named', async (_, call) => {
    const { client, state } = arrange()
    client.before = () => {
      throw new AwsError('ResourceNotFoundException', 'no', { status: 400, mayHaveLanded: false })
    }
    await expect(call(state)).rejects.toMatchObject({
      code: 'Unavailable',
      message: `table ${TABLE} does not exist in this region: npm run tables creates it`,
    })
  })

  it.each(calls)('is Unavailable to %s as the client says it', async (_, call) => {
    const { client, state } = arrange()
    const down = new PortError('Unavailable', 'throttled')
    client.before = () => {
      throw down
    }
    await expect(call(state)).rejects.toBe(down)
  })

  it('is Unavailable when it answers a listing without items', async () => {
    const { client, state } = arrange()
    client.call = async () => ({})
    await expect(state.list('tok.')).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

describe('requests', () => {
  it('opening makes none', () => {
    const { client, open } = arrange()
    open({ peers: ['github', 'google', 'slack'] })
    expect(client.calls).toEqual([])
  })

  it('each operation makes one, where no refusal needs another', async () => {
    const { client, state } = arrange()
    const rev = await state.create('tok.a', bytes('x'), MINUTE)
    const next = await state.update('tok.a', bytes('y'), MINUTE, rev)
    await state.get('tok.a')
    await state.peekRevision('tok.a')
    await state.create('tok.a', bytes('z'), MINUTE).catch(() => {})
    await state.update('tok.a', bytes('z'), MINUTE, rev).catch(() => {})
    await state.deleteIfRevision('tok.a', next)
    await state.put('tok.a', bytes('z'), MINUTE)
    await state.list('tok.')
    await state.delete('tok.a')
    expect(client.calls.map(({ operation }) => operation)).toEqual([
      ...['PutItem', 'PutItem', 'GetItem', 'GetItem', 'PutItem', 'PutItem', 'DeleteItem', 'PutItem', 'Query', 'DeleteItem'],
    ])
  })

  it('go to a table of another name when it is given one', async () => {
    const { client, state } = arrange({ tableNames: { oidc: 'people' } })
    await state.put('tok.a', bytes('x'), MINUTE)
    expect(client.calls.map(({ input }) => input.TableName)).toEqual(['people'])
  })
})
