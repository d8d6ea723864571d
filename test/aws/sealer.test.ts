import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { kmsSealer } from '../../src/adapters/kms/sealer.ts'
import type { SealContext } from '../../src/ports/sealer.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import { bytes, clock, random, text } from '../conformance/arrange.ts'
import { runSealerSuite } from '../conformance/sealer-suite.ts'

const KEY = 'alias/sluis-acme-sign'
const OTHER_KEY = 'alias/sluis-other-sign'
const CONTEXT: SealContext = { instance: 'acme', purpose: 'sign', kid: 'k1' }

let emulator: AwsEmulator
beforeAll(async () => {
  emulator = await startAwsEmulator({ keyAliases: [KEY, OTHER_KEY] })
})
beforeEach(() => emulator.faults.clear())
afterAll(() => emulator.stop())

runSealerSuite('kms', async () => ({ open: () => sealer(KEY), openAnotherKey: () => sealer(OTHER_KEY) }), {
  skip: {
    'sealer/previous-key': 'KMS rotates inside a key: a ciphertext names the version that made it, and no key is ever the previous one',
  },
})

describe('the KMS sealer and the AWS SDK', () => {
  it('the SDK opens what we sealed, under the same context and no other', async () => {
    const sealed = await sealer(KEY).seal(bytes('a private key'), CONTEXT)
    const opened = await sdk().send(new DecryptCommand({ KeyId: KEY, CiphertextBlob: sealed, EncryptionContext: CONTEXT }))
    expect(text(new Uint8Array(opened.Plaintext ?? []))).toBe('a private key')

    const elsewhere = new DecryptCommand({ KeyId: KEY, CiphertextBlob: sealed, EncryptionContext: { ...CONTEXT, instance: 'other' } })
    await expect(sdk().send(elsewhere)).rejects.toMatchObject({ name: 'InvalidCiphertextException' })
  })

  it('we open what the SDK sealed', async () => {
    const sealed = await sdk().send(new EncryptCommand({ KeyId: KEY, Plaintext: bytes('a private key'), EncryptionContext: CONTEXT }))
    expect(text(await sealer(KEY).open(new Uint8Array(sealed.CiphertextBlob ?? []), CONTEXT))).toBe('a private key')
  })
})

describe('KMS in trouble', () => {
  it('a throttle, a lost answer and a clock ten minutes off are got over', async () => {
    const sealed = await sealer(KEY).seal(bytes('x'), CONTEXT)
    emulator.faults.set({
      clockOffset: 600_000,
      next: [
        { service: 'kms', fault: 'throttle' },
        { service: 'kms', fault: 'dropAnswer' },
      ],
    })
    expect(text(await sealer(KEY).open(sealed, CONTEXT))).toBe('x')
  })

  it('a key that does not exist is Unavailable, and named', async () => {
    const missing = sealer('alias/sluis-acme-nothing').seal(bytes('x'), CONTEXT)
    await expect(missing).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining('alias/sluis-acme-nothing') })
  })

  it('credentials that are wrong are Unavailable, with what is wrong about them', async () => {
    const { accessKeyId, secretAccessKey } = credentials()
    for (const [wrong, says] of [
      [{ accessKeyId: 'AKIASTRANGER', secretAccessKey }, /access key is not known/],
      [{ accessKeyId, secretAccessKey: 'another' }, /secret access key does not belong/],
      [{ accessKeyId, secretAccessKey, sessionToken: 'stale' }, /access key is not known, or has expired/],
    ] as const) {
      const refusal = sealer(KEY, wrong).seal(bytes('x'), CONTEXT)
      await expect(refusal).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringMatching(says) })
    }
  })
})

function sealer(keyId: string, by = credentials()) {
  const { url: endpoint, region } = emulator
  return kmsSealer({ keyId, client: jsonClient({ service: 'kms', region, endpoint, credentials: by, fetch, clock, random }) })
}

function credentials(): { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined } {
  return emulator.credentials[0] ?? expect.unreachable('the emulator knows nobody')
}

function sdk(): KMSClient {
  const { accessKeyId, secretAccessKey } = credentials()
  return new KMSClient({ region: emulator.region, endpoint: emulator.url, credentials: { accessKeyId, secretAccessKey } })
}
