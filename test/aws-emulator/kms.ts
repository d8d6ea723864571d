import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import * as z from 'zod'
import { ACCOUNT, type Call, Refusal } from './call.ts'
import type { Authorize, Context } from './iam.ts'
import { validInput } from './json-protocol.ts'

export interface KmsKey {
  id: string
  arn: string
  enabled: boolean
  /** AES-256 */
  secret: Buffer
  created: number
}

export interface Kms {
  call(call: Call, input: Record<string, unknown>): Promise<object>
  /** A key under this alias, the one that stands there or a new one. */
  createAlias(alias: string): KmsKey
  /** A key by id, ARN, alias or alias ARN. @throws Refusal NotFoundException */
  find(keyId: string): KmsKey
}

const plaintext = z.base64().transform((text) => Buffer.from(text, 'base64'))
const context = z.record(z.string(), z.string()).default({})
const keyed = z.object({ KeyId: z.string().min(1).max(2048) })

const schemas = {
  createKey: z.object({ Description: z.string().optional(), KeySpec: z.literal('SYMMETRIC_DEFAULT').optional() }),
  createAlias: z.object({ AliasName: z.string().regex(/^alias\/(?!aws\/)[a-zA-Z0-9/_-]+$/), TargetKeyId: z.string().min(1) }),
  keyed,
  encrypt: keyed.extend({
    // KMS encrypts at most 4,096 bytes with a symmetric key.
    Plaintext: plaintext.refine((bytes) => bytes.length >= 1 && bytes.length <= 4096, 'Member must have length between 1 and 4096'),
    EncryptionContext: context,
  }),
  decrypt: z.object({ CiphertextBlob: plaintext, EncryptionContext: context, KeyId: z.string().min(1).optional() }),
  generateDataKey: keyed.extend({
    EncryptionContext: context,
    KeySpec: z.enum(['AES_256', 'AES_128']).optional(),
    NumberOfBytes: z.number().int().min(1).max(1024).optional(),
  }),
}

/** KMS with symmetric keys. A ciphertext names its key and is bound to its encryption context. */
export function kms(options: { region: string }): Kms {
  const keys = new Map<string, KmsKey>()
  const aliases = new Map<string, string>()
  const arnOf = (resource: string) => `arn:aws:kms:${options.region}:${ACCOUNT}:${resource}`

  function createKey(now: number): KmsKey {
    const id = randomUUID()
    const key: KmsKey = { id, arn: arnOf(`key/${id}`), enabled: true, secret: randomBytes(32), created: now }
    keys.set(id, key)
    return key
  }

  function find(keyId: string): KmsKey {
    const resource = keyId.startsWith(arnOf('')) ? keyId.slice(arnOf('').length) : keyId
    const isAlias = resource.startsWith('alias/')
    const id = isAlias ? aliases.get(resource) : resource.replace(/^key\//, '')
    const key = keys.get(id ?? '')
    if (key !== undefined) return key
    throw new Refusal('NotFoundException', isAlias ? `Alias ${arnOf(resource)} is not found.` : `Key '${keyId}' does not exist`)
  }

  /** The key, when the caller may do this with it and it is not disabled. */
  function usable(key: KmsKey, action: string, authorize: Authorize, encryptionContext: Record<string, string>): KmsKey {
    authorize(action, key.arn, contextOf(encryptionContext))
    if (!key.enabled) throw new Refusal('DisabledException', `${key.arn} is disabled.`)
    return key
  }

  function decrypt(input: z.infer<typeof schemas.decrypt>, authorize: Authorize): object {
    const { keyId, sealed } = parseCiphertext(input.CiphertextBlob)
    const key = keys.get(keyId)
    // No key is ever deleted here: one that is not known stands in a spoilt ciphertext.
    if (key === undefined) throw new Refusal('InvalidCiphertextException', '')
    if (input.KeyId !== undefined && find(input.KeyId) !== key) {
      throw new Refusal('IncorrectKeyException', 'The key ID in the request does not identify a CMK that can perform this operation.')
    }
    usable(key, 'kms:Decrypt', authorize, input.EncryptionContext)
    const opened = open(key.secret, sealed, input.EncryptionContext)
    return { KeyId: key.arn, Plaintext: opened.toString('base64'), EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' }
  }

  async function call({ operation, authorize, now }: Call, input: Record<string, unknown>): Promise<object> {
    switch (operation) {
      case 'CreateKey': {
        validInput(schemas.createKey, input)
        authorize('kms:CreateKey', '*')
        return { KeyMetadata: metadata(createKey(now)) }
      }
      case 'CreateAlias': {
        const { AliasName, TargetKeyId } = validInput(schemas.createAlias, input)
        authorize('kms:CreateAlias', arnOf(AliasName))
        if (aliases.has(AliasName)) throw new Refusal('AlreadyExistsException', `An alias with the name ${arnOf(AliasName)} already exists`)
        aliases.set(AliasName, find(TargetKeyId).id)
        return {}
      }
      case 'DescribeKey':
      case 'DisableKey':
      case 'EnableKey': {
        const key = find(validInput(schemas.keyed, input).KeyId)
        authorize(`kms:${operation}`, key.arn)
        if (operation === 'DescribeKey') return { KeyMetadata: metadata(key) }
        key.enabled = operation === 'EnableKey'
        return {}
      }
      case 'Encrypt': {
        const { KeyId, Plaintext, EncryptionContext } = validInput(schemas.encrypt, input)
        const key = usable(find(KeyId), 'kms:Encrypt', authorize, EncryptionContext)
        const sealed = seal(key, Plaintext, EncryptionContext)
        return { KeyId: key.arn, CiphertextBlob: sealed.toString('base64'), EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' }
      }
      case 'Decrypt':
        return decrypt(validInput(schemas.decrypt, input), authorize)
      case 'GenerateDataKey': {
        const { KeyId, KeySpec, NumberOfBytes, EncryptionContext } = validInput(schemas.generateDataKey, input)
        if ((KeySpec === undefined) === (NumberOfBytes === undefined)) {
          throw new Refusal('ValidationException', 'Please specify either number of bytes or key spec.')
        }
        const key = usable(find(KeyId), 'kms:GenerateDataKey', authorize, EncryptionContext)
        const dataKey = randomBytes(NumberOfBytes ?? (KeySpec === 'AES_128' ? 16 : 32))
        const sealed = seal(key, dataKey, EncryptionContext)
        return { KeyId: key.arn, Plaintext: dataKey.toString('base64'), CiphertextBlob: sealed.toString('base64') }
      }
      default:
        throw new Refusal('UnknownOperationException', operation)
    }
  }

  return {
    call,
    find,
    createAlias(alias) {
      const standing = aliases.get(alias)
      if (standing !== undefined) return find(standing)
      const key = createKey(Date.now())
      aliases.set(alias, key.id)
      return key
    },
  }
}

/** The condition keys by which a policy binds a key to an encryption context (KMS, "kms:EncryptionContext:context-key"). */
export function contextOf(encryptionContext: Record<string, string>): Context {
  const pairs = Object.entries(encryptionContext).map(([name, value]) => [`kms:EncryptionContext:${name}`, [value]] as const)
  return { ...Object.fromEntries(pairs), 'kms:EncryptionContextKeys': Object.keys(encryptionContext) }
}

// 0x01, the key's id (36), nonce (12), tag (16), ciphertext: KMS promises no form, only that it names its key.
const VERSION = 1
const ID = 36
const NONCE = 12
const TAG = 16

function seal(key: KmsKey, bytes: Buffer, encryptionContext: Record<string, string>): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', key.secret, nonce).setAAD(authenticated(encryptionContext))
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([Buffer.from([VERSION]), Buffer.from(key.id), nonce, cipher.getAuthTag(), sealed])
}

function parseCiphertext(blob: Buffer): { keyId: string; sealed: Buffer } {
  if (blob[0] !== VERSION || blob.length <= 1 + ID + NONCE + TAG) throw new Refusal('InvalidCiphertextException', '')
  return { keyId: blob.subarray(1, 1 + ID).toString(), sealed: blob.subarray(1 + ID) }
}

function open(secret: Buffer, sealed: Buffer, encryptionContext: Record<string, string>): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(0, NONCE), { authTagLength: TAG })
    decipher.setAAD(authenticated(encryptionContext)).setAuthTag(sealed.subarray(NONCE, NONCE + TAG))
    return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()])
  } catch {
    throw new Refusal('InvalidCiphertextException', '')
  }
}

function authenticated(encryptionContext: Record<string, string>): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(encryptionContext).sort(([a], [b]) => (a < b ? -1 : 1))))
}

function metadata(key: KmsKey): object {
  return {
    AWSAccountId: ACCOUNT,
    KeyId: key.id,
    Arn: key.arn,
    CreationDate: key.created / 1000,
    Enabled: key.enabled,
    KeyState: key.enabled ? 'Enabled' : 'Disabled',
    KeyUsage: 'ENCRYPT_DECRYPT',
    KeySpec: 'SYMMETRIC_DEFAULT',
    EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'],
    KeyManager: 'CUSTOMER',
    Origin: 'AWS_KMS',
    MultiRegion: false,
  }
}
