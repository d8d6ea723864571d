import {
  DecryptCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  KMSClient,
} from '@aws-sdk/client-kms'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'

let emulator: AwsEmulator
let client: KMSClient
beforeAll(async () => {
  emulator = await startAwsEmulator({ keyAliases: ['alias/a', 'alias/b', 'alias/off'] })
  client = new KMSClient({ endpoint: emulator.url, region: emulator.region, credentials: emulator.credentials[0], maxAttempts: 1 })
})
afterAll(() => emulator.stop())

const context = { instance: 'acme', purpose: 'sign' }
const encrypt = (KeyId: string, size = 10, EncryptionContext: Record<string, string> = context) =>
  client.send(new EncryptCommand({ KeyId, Plaintext: Buffer.alloc(size, 1), EncryptionContext }))
const decrypt = (CiphertextBlob: Uint8Array | undefined, input: { KeyId?: string; EncryptionContext?: Record<string, string> } = {}) =>
  client.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: context, ...input }))

it('a ciphertext names its key, and opens under its context in any order of names', async () => {
  const { CiphertextBlob, KeyId } = await encrypt('alias/a')
  const opened = await decrypt(CiphertextBlob, { EncryptionContext: { purpose: 'sign', instance: 'acme' } })
  expect(opened.KeyId).toBe(KeyId)
  expect(Buffer.from(opened.Plaintext ?? [])).toEqual(Buffer.alloc(10, 1))
  await decrypt(CiphertextBlob, { KeyId: 'alias/a' })
})

it('opens under no other context, spoilt nowhere, and with no other key', async () => {
  const { CiphertextBlob = new Uint8Array() } = await encrypt('alias/a')
  const invalid = { name: 'InvalidCiphertextException' }
  await expect(decrypt(CiphertextBlob, { EncryptionContext: { ...context, purpose: 'seal' } })).rejects.toMatchObject(invalid)
  await expect(decrypt(CiphertextBlob, { EncryptionContext: {} })).rejects.toMatchObject(invalid)
  const spoilt = CiphertextBlob.with(-1, (CiphertextBlob.at(-1) ?? 0) ^ 1)
  await expect(decrypt(spoilt)).rejects.toMatchObject(invalid)
  await expect(decrypt(Buffer.from('none'))).rejects.toMatchObject(invalid)
  await expect(decrypt(CiphertextBlob, { KeyId: 'alias/b' })).rejects.toMatchObject({ name: 'IncorrectKeyException' })
})

it('encrypts 4,096 bytes and no more', async () => {
  await encrypt('alias/a', 4_096)
  await expect(encrypt('alias/a', 4_097)).rejects.toMatchObject({ name: 'ValidationException' })
})

it('a key that is not there is NotFoundException, one that is off DisabledException, to seal and to open', async () => {
  await expect(encrypt('alias/none')).rejects.toMatchObject({ name: 'NotFoundException' })
  const { CiphertextBlob } = await encrypt('alias/off')
  await client.send(new DisableKeyCommand({ KeyId: 'alias/off' }))
  await expect(encrypt('alias/off')).rejects.toMatchObject({ name: 'DisabledException' })
  await expect(decrypt(CiphertextBlob)).rejects.toMatchObject({ name: 'DisabledException' })
  expect((await client.send(new DescribeKeyCommand({ KeyId: 'alias/off' }))).KeyMetadata?.KeyState).toBe('Disabled')
})

it('a data key comes plain and sealed', async () => {
  const made = await client.send(new GenerateDataKeyCommand({ KeyId: 'alias/a', KeySpec: 'AES_256', EncryptionContext: context }))
  expect(made.Plaintext).toHaveLength(32)
  expect((await decrypt(made.CiphertextBlob)).Plaintext).toEqual(made.Plaintext)
})
