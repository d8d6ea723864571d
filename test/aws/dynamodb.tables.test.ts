import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dynamodbIndex } from '../../src/adapters/dynamodb/index-set.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { tableProblem } from '../../src/adapters/dynamodb/table-problem.ts'
import { dynamodbTrigger } from '../../src/adapters/dynamodb/trigger.ts'
import { type Module, modules, tableName } from '../../src/ports/layout5.ts'
import type { Rev } from '../../src/ports/state.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import { bytes, clock, random, text } from '../conformance/arrange.ts'
import { clientOf, freshInstance } from './dynamodb-arrange.ts'

let emulator: AwsEmulator
beforeAll(async () => {
  emulator = await startAwsEmulator()
})
beforeEach(() => {
  emulator.faults.clear()
  emulator.requests.reset()
})
afterAll(() => emulator.stop())

async function arrange() {
  const instance = await freshInstance(emulator)
  const client = clientOf(emulator)
  const open = (module: Module = 'oidc', peers: Module[] = []) => dynamodbState({ client, instance, module, clock, random, peers })
  const { accessKeyId, secretAccessKey } = emulator.credentials[0]
  const credentials = { accessKeyId, secretAccessKey }
  const sdk = new DynamoDBClient({ region: emulator.region, endpoint: emulator.url, credentials })
  emulator.requests.reset()
  return { instance, client, open, sdk, table: tableName(instance, 'oidc') }
}

describe('the AWS SDK', () => {
  it('reads a record we wrote, attribute for attribute', async () => {
    const { open, sdk, table } = await arrange()
    const before = Math.ceil(Date.now() / 1_000) + 60
    const rev = await open().create('ses.ada~40acme~2Eexample.s1', bytes('{"a":1}'), 60)
    const Key = { pk: { S: 'session' }, sk: { S: 'ada~40acme~2Eexample/s1' } }
    const { Item } = await sdk.send(new GetItemCommand({ TableName: table, Key, ConsistentRead: true }))
    expect(Item).toEqual({
      ...Key,
      lkey: { S: 'ses.ada~40acme~2Eexample.s1' },
      v: { B: bytes('{"a":1}') },
      rev: { N: rev },
      expires: { N: expect.stringMatching(/^\d{10}$/) },
    })
    expect(Number(Item?.expires?.N) - before).toBeOneOf([0, 1, 2])
  })

  it('reads a member we wrote, attribute for attribute, and a permanent one has no end', async () => {
    const { client, instance, sdk, table } = await arrange()
    await dynamodbIndex({ client, instance, module: 'oidc', clock, random }).add('issuer:sso-of:ada@acme.example', 's1', 'permanent')
    const Key = { pk: { S: 'sso-of' }, sk: { S: 'ada@acme.example/s1' } }
    const { Item } = await sdk.send(new GetItemCommand({ TableName: table, Key }))
    const rev = { N: expect.stringMatching(/^[1-9]\d*$/) }
    expect(Item).toEqual({ ...Key, lkey: { S: 'issuer:sso-of:ada@acme.example' }, rev, k: { S: 'i' } })
  })

  it('writes what we read: an item of the Go service under a colon key, its value a bare session id, its revision over 2^53', async () => {
    const { open, sdk, table } = await arrange()
    const Item = {
      pk: { S: 'session-token' },
      sk: { S: 'h1' },
      lkey: { S: 'issuer:session-token:h1' },
      v: { B: bytes('5b0f1f0e') },
      rev: { N: '18446744073709551615' },
      expires: { N: String(Math.floor(Date.now() / 1_000) + 600) },
    }
    await sdk.send(new PutItemCommand({ TableName: table, Item }))
    const rev = '18446744073709551615' as Rev
    expect(await open().get('rt.h1')).toEqual({ key: 'rt.h1', value: bytes('5b0f1f0e'), rev })
    expect((await open().list('issuer:session-token:')).entries).toEqual([
      { key: 'issuer:session-token:h1', value: bytes('5b0f1f0e'), rev },
    ])
    expect((await open().list('rt.')).entries).toEqual([])

    const next = await open().update('rt.h1', bytes('ada.5b0f1f0e'), 60, rev)
    expect((await open().list('rt.')).entries).toEqual([{ key: 'rt.h1', value: bytes('ada.5b0f1f0e'), rev: next }])
  })
})

describe('reads', () => {
  it('are consistent, all but peekRevision', async () => {
    const { client, instance, open } = await arrange()
    const state = open()
    await state.put('tok.a', bytes('x'), 60)
    await state.get('tok.a')
    await state.list('tok.')
    await state.list('keyring.')
    await dynamodbIndex({ client, instance, module: 'oidc', clock, random }).members('issuer:sso-of:ada')
    await expect(state.update('tok.a', bytes('y'), 60, 'none' as Rev)).rejects.toMatchObject({ code: 'Conflict' })
    expect(emulator.requests.eventual).toBe(0)
    await state.peekRevision('tok.a')
    expect(emulator.requests.eventual).toBe(1)
  })
})

describe('a lost answer', () => {
  it('of a conditional deletion that deleted is Unavailable, never NotFound', async () => {
    const { open } = await arrange()
    const rev = await open().create('tok.a', bytes('x'), 60)
    emulator.faults.set({ next: [{ service: 'dynamodb', operation: 'DeleteItem', fault: 'dropAnswer' }] })
    await expect(open().deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await open().get('tok.a')).toBeNull()
  })

  it('of a creation or an update that landed is success, twice over', async () => {
    const { open } = await arrange()
    const drop = { service: 'dynamodb', operation: 'PutItem', fault: 'dropAnswer', times: 2 } as const
    emulator.faults.set({ next: [drop] })
    const rev = await open().create('tok.a', bytes('x'), 60)
    emulator.faults.set({ next: [drop] })
    const next = await open().update('tok.a', bytes('y'), 60, rev)
    expect(await open().get('tok.a')).toEqual({ key: 'tok.a', value: bytes('y'), rev: next })
  })
})

describe('tables of modules', () => {
  it('opening asks nothing, and neither does what is of another module', async () => {
    const { open } = await arrange()
    const oidc = open()
    await expect(oidc.put('gh.org.acme', bytes('x'), 'permanent')).rejects.toMatchObject({ code: 'NotOwner' })
    expect(await oidc.get('gh.org.acme')).toBeNull()
    expect(await oidc.list('gh.org.')).toEqual({ entries: [] })
    expect(emulator.requests.counts).toEqual({})
  })

  it('the same lease is free in each', async () => {
    const { open } = await arrange()
    for (const module of modules) await open(module).create('lease.tick:all', bytes(module), 60)
    for (const module of modules) expect(text((await open(module).get('lease.tick:all'))?.value)).toBe(module)
  })

  it("a peer's is read and never written", async () => {
    const { open } = await arrange()
    const rev = await open('github').put('gh.org.acme', bytes('{}'), 'permanent')
    expect(await open('oidc', ['github']).get('gh.org.acme')).toEqual({ key: 'gh.org.acme', value: bytes('{}'), rev })
    await expect(open('oidc', ['github']).delete('gh.org.acme')).rejects.toMatchObject({ code: 'NotOwner' })
  })

  it('a notification is seen by every store of its table and by no other', async () => {
    const { open } = await arrange()
    await dynamodbTrigger({ state: open('github'), clock }).notify('acme')
    expect((await open('github').list('notify.')).entries.map(({ key }) => key)).toEqual(['notify.acme'])
    expect((await open('slack').list('notify.')).entries).toEqual([])
  })

  it('a missing one is named, to readiness and to every call', async () => {
    const { client, table } = await arrange()
    expect(await tableProblem(client, table)).toBeNull()
    expect(await tableProblem(client, 'sluis-none-oidc')).toContain('table sluis-none-oidc does not exist')
    const state = dynamodbState({ client, instance: 'none', module: 'oidc', clock, random })
    const unavailable = { code: 'Unavailable', message: expect.stringContaining('sluis-none-oidc') }
    await expect(state.get('tok.a')).rejects.toMatchObject(unavailable)
    await expect(state.create('tok.a', bytes('x'), 60)).rejects.toMatchObject(unavailable)
    await expect(state.list('')).rejects.toMatchObject(unavailable)
  })
})
