import { type Bytes, compareUtf8, utf8 } from '../../crypto/bytes.ts'
import { equalBytes } from '../../crypto/equal.ts'
import type { Blob } from '../../ports/blob.ts'
import { PortError } from '../../ports/error.ts'
import { isAwsError, type S3Client } from '../aws/aws.ts'
import { etagOf, isEtag, putWhole, reach, type Target, textOf } from './exchange.ts'
import { type Listing, parseListing } from './listing.ts'
import { uploadStream } from './upload.ts'

export interface S3BlobOptions {
  client: S3Client
  /** Stands before every name, joined by `/`, so that instances share a bucket; surrounding slashes are trimmed. None by default. */
  prefix?: string | undefined
  /** The KMS key S3 encrypts objects under, as an id, alias or ARN; without one they are encrypted under S3's own (AES256). */
  sseKmsKeyId?: string | undefined
}

/** bytes: the longest key S3 takes */
const KEY_LIMIT = 1_024

/**
 * Objects in an S3 bucket. A version is the ETag without its quotes, which is what a condition of a write names: under S3's own
 * encryption a rewrite of identical bytes keeps it, and content that went away and came back is not seen to have moved. A writer
 * loses nothing by it, since it read those bytes.
 *
 * A name is Unsupported that is empty, has no UTF-8 spelling, makes a key over 1,024 bytes, or has `.` or `..` for a segment:
 * fetch takes those out of an address whatever their spelling, so that another object would be asked for.
 */
export function s3Blob({ client, prefix = '', sseKmsKeyId }: S3BlobOptions): Blob {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '')
  const root = trimmed === '' ? '' : `${trimmed}/`

  return {
    async read(name) {
      return await reach('reading an object', async () => {
        const answer = await find(name)
        return { body: new Uint8Array(await answer.arrayBuffer()), version: etagOf(answer) }
      })
    },

    async write(name, body) {
      const target = targetOf(name)
      return await reach('writing an object', () => putWhole(target, body))
    },

    async writeIfVersion(name, body, version) {
      const target = targetOf(name)
      return await reach('writing an object', async () => {
        // S3 reads `*` and lists of quoted ones as conditions of their own: only an ETag is asked for.
        if (!isEtag(version)) throw (await exists(target)) ? conflict(name) : absent(name)
        try {
          return await putWhole(target, body, { 'if-match': `"${version}"` })
        } catch (error) {
          return await afterRefusal(error, name, body)
        }
      })
    },

    async delete(name) {
      const { key } = targetOf(name)
      await reach('deleting an object', async () => {
        const answer = await client.send({ method: 'DELETE', key })
        await answer.body?.cancel()
      })
    },

    async list(namePrefix) {
      const prefix = root + namePrefix
      if (!prefix.isWellFormed()) return [] // names are, so half a surrogate pair starts none of them
      const names: string[] = []
      let token: string | null = null
      do {
        // Keys come URL-encoded: XML has no spelling for control characters, and S3 would write them all the same.
        const query: Record<string, string> = {
          'list-type': '2',
          'encoding-type': 'url',
          prefix,
          ...(token === null ? {} : { 'continuation-token': token }),
        }
        const page: Listing = await reach('listing objects', async () =>
          parseListing(await textOf(await client.send({ method: 'GET', query }))),
        )
        for (const key of page.keys) if (key.startsWith(prefix)) names.push(key.slice(root.length))
        token = page.next
      } while (token !== null)
      return names.sort(compareUtf8)
    },

    async readStream(name) {
      return await reach('reading an object', async () => {
        const answer = await find(name)
        // Handed over as it came, so that a reader who cancels ends the download.
        return { body: answer.body ?? emptyStream(), version: etagOf(answer) }
      })
    },

    async writeStream(name, body) {
      const target = targetOf(name)
      return await reach('writing an object', () => uploadStream(target, body))
    },
  }

  async function find(name: string): Promise<Response> {
    const { key } = targetOf(name)
    try {
      return await client.send({ method: 'GET', key })
    } catch (error) {
      // Any other 404 is of the bucket, or of no S3 at all.
      throw isAwsError(error, 'NoSuchKey', 'NotFound') ? absent(name) : error
    }
  }

  /** What a conditional write that S3 refused comes to. The new version after all, when what stands is what was to be written. */
  async function afterRefusal(error: unknown, name: string, body: Bytes): Promise<string> {
    if (isAwsError(error, 'NoSuchKey')) throw absent(name)
    if (!isAwsError(error) || (error.status !== 409 && error.status !== 412)) throw error
    if (error.mayHaveLanded) return await landed(name, body)
    // 409: another conditional write of the object is under way, so it stands.
    if (error.status === 409 || (await exists(targetOf(name)))) throw conflict(name)
    throw absent(name)
  }

  /**
   * An earlier attempt may have been carried out, its answer lost, and the refusal be of its repetition. The bytes tell, also under
   * a KMS key, where an ETag is no digest of them.
   */
  async function landed(name: string, body: Bytes): Promise<string> {
    const answer = await find(name)
    const standing = new Uint8Array(await answer.arrayBuffer())
    if (equalBytes(standing, body)) return etagOf(answer)
    throw conflict(name)
  }

  async function exists({ key }: Target): Promise<boolean> {
    try {
      await client.send({ method: 'HEAD', key })
      return true
    } catch (error) {
      if (isAwsError(error) && error.status === 404) return false // no body, so no code
      throw error
    }
  }

  function targetOf(name: string): Target {
    const key = root + name
    const segments = key.split('/')
    if (name === '' || !key.isWellFormed() || segments.includes('.') || segments.includes('..') || utf8(key).length > KEY_LIMIT) {
      throw new PortError('Unsupported', `an object has a name, of at most ${KEY_LIMIT} bytes with the prefix and no segment . or ..`)
    }
    return { client, key, encryption: encryption(sseKmsKeyId) }
  }
}

/** Always said, so that a bucket whose policy refuses what does not say it takes our writes. */
function encryption(keyId: string | undefined): Record<string, string> {
  if (keyId === undefined) return { 'x-amz-server-side-encryption': 'AES256' }
  return { 'x-amz-server-side-encryption': 'aws:kms', 'x-amz-server-side-encryption-aws-kms-key-id': keyId }
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() })
}

function absent(name: string): PortError {
  return new PortError('NotFound', `no object ${name}`)
}

function conflict(name: string): PortError {
  return new PortError('Conflict', `${name} is of another version`)
}
