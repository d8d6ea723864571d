import {
  DeleteParameterCommand,
  DeleteParametersCommand,
  GetParameterCommand,
  GetParameterHistoryCommand,
  GetParametersByPathCommand,
  GetParametersCommand,
  PutParameterCommand,
  type PutParameterCommandInput,
  SSMClient,
} from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'

let emulator: AwsEmulator
let client: SSMClient
beforeAll(async () => {
  emulator = await startAwsEmulator({ keyAliases: ['alias/sluis-acme'] })
  client = new SSMClient({ endpoint: emulator.url, region: emulator.region, credentials: emulator.credentials[0], maxAttempts: 1 })
})
afterAll(() => emulator.stop())

const put = (Name: string, Value: string, input: Partial<PutParameterCommandInput> = {}) =>
  client.send(new PutParameterCommand({ Name, Value, Type: 'SecureString', ...input }))
const get = async (Name: string, WithDecryption = true) => (await client.send(new GetParameterCommand({ Name, WithDecryption }))).Parameter
const invalid = { name: 'ValidationException' }

describe('parameters', () => {
  it('a SecureString is only read by who asks for decryption', async () => {
    await put('/t/secure', 'secret', { KeyId: 'alias/sluis-acme' })
    expect((await get('/t/secure'))?.Value).toBe('secret')
    expect((await get('/t/secure', false))?.Value).not.toContain('secret')
    await expect(put('/t/key', 'v', { KeyId: 'alias/none' })).rejects.toMatchObject({ name: 'InvalidKeyId' })
  })

  it('one that stands is overwritten only on request, and its versions can be asked for', async () => {
    await put('/t/versions', 'one')
    await expect(put('/t/versions', 'two')).rejects.toMatchObject({ name: 'ParameterAlreadyExists' })
    expect((await put('/t/versions', 'two', { Overwrite: true })).Version).toBe(2)
    expect(await get('/t/versions')).toMatchObject({ Value: 'two', Version: 2 })
    expect(await get('/t/versions:1')).toMatchObject({ Value: 'one', Version: 1, Selector: ':1', Name: '/t/versions' })
    await expect(get('/t/versions:3')).rejects.toMatchObject({ name: 'ParameterVersionNotFound' })
    await expect(get('/t/none')).rejects.toMatchObject({ name: 'ParameterNotFound' })
  })

  it('of many who create one, one does', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => put('/t/race', String(n))))
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
  })

  it('keeps the last 100 versions', async () => {
    await put('/t/many', '1')
    for (let n = 2; n <= 101; n++) await put('/t/many', String(n), { Overwrite: true })
    await expect(get('/t/many:1')).rejects.toMatchObject({ name: 'ParameterVersionNotFound' })
    expect((await get('/t/many:2'))?.Value).toBe('2')
    const page = await client.send(new GetParameterHistoryCommand({ Name: '/t/many', WithDecryption: true }))
    const rest = await client.send(new GetParameterHistoryCommand({ Name: '/t/many', NextToken: page.NextToken, WithDecryption: true }))
    expect([...(page.Parameters ?? []), ...(rest.Parameters ?? [])].map(({ Value }) => Number(Value))).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 2),
    )
  })

  it('standard takes 4,096 characters, advanced 8,192, and what is advanced stays so', async () => {
    await put('/t/standard', 'x'.repeat(4_096))
    await expect(put('/t/standard', 'x'.repeat(4_097), { Overwrite: true })).rejects.toMatchObject(invalid)
    expect((await put('/t/advanced', 'x'.repeat(8_192), { Tier: 'Advanced' })).Tier).toBe('Advanced')
    await expect(put('/t/advanced', 'x'.repeat(8_193), { Tier: 'Advanced', Overwrite: true })).rejects.toMatchObject(invalid)
    expect((await put('/t/advanced', 'x', { Overwrite: true })).Tier).toBe('Advanced')
    await expect(put('/t/advanced', 'x', { Overwrite: true, Tier: 'Standard' })).rejects.toMatchObject(invalid)
  })

  it.each(['/t/a b', 't/relative', '/t/end/', '/t//empty', '/aws/x', 'SSMx', '/t/ü', `/${'l/'.repeat(15)}l`, `/${'n'.repeat(1_011)}`])(
    'the name %s is refused',
    async (name) => {
      await expect(put(name, 'v')).rejects.toMatchObject(invalid)
    },
  )
})

describe('many at once', () => {
  it('GetParameters takes ten names, and says which it does not know', async () => {
    await put('/m/a', 'a')
    await put('/m/b', 'b')
    const found = await client.send(new GetParametersCommand({ Names: ['/m/a', '/m/none', '/m/b:1', '/m/b:2'], WithDecryption: true }))
    expect(new Map(found.Parameters?.map(({ Name, Value }) => [Name, Value]))).toEqual(
      new Map(Object.entries({ '/m/a': 'a', '/m/b': 'b' })),
    )
    expect(found.InvalidParameters).toEqual(['/m/none', '/m/b:2'])
    const eleven = Array.from({ length: 11 }, (_, n) => `/m/${n}`)
    await expect(client.send(new GetParametersCommand({ Names: eleven }))).rejects.toMatchObject(invalid)
  })

  it('GetParametersByPath pages by ten, one level or all of them', async () => {
    for (let n = 0; n < 12; n++) await put(`/p/q/n${String(n).padStart(2, '0')}`, 'v')
    await put('/p/q/deep/er', 'v')
    await put('/p/qq', 'v')
    const page = async (Recursive: boolean, NextToken?: string) =>
      client.send(new GetParametersByPathCommand({ Path: '/p/q', Recursive, NextToken }))
    const first = await page(false)
    const second = await page(false, first.NextToken)
    expect(first.Parameters).toHaveLength(10)
    expect(second.Parameters?.map(({ Name }) => Name)).toEqual(['/p/q/n10', '/p/q/n11'])
    expect(second.NextToken).toBeUndefined()
    expect((await page(true)).Parameters?.map(({ Name }) => Name)).toContain('/p/q/deep/er')
    await expect(page(false, 'nonsense')).rejects.toMatchObject({ name: 'InvalidNextToken' })
  })

  it('deletes are final: one that is gone is said to be', async () => {
    await put('/d/a', 'v')
    await put('/d/b', 'v')
    await client.send(new DeleteParameterCommand({ Name: '/d/a' }))
    await expect(client.send(new DeleteParameterCommand({ Name: '/d/a' }))).rejects.toMatchObject({ name: 'ParameterNotFound' })
    const deleted = await client.send(new DeleteParametersCommand({ Names: ['/d/a', '/d/b'] }))
    expect(deleted).toMatchObject({ DeletedParameters: ['/d/b'], InvalidParameters: ['/d/a'] })
  })
})
