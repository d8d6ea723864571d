import { type Bytes, compareUtf8, utf8 } from '../../crypto/bytes.ts'
import type { Blob } from '../../ports/blob.ts'
import { PortError, toPortError } from '../../ports/error.ts'
import { putWhole, uploadStream } from './upload.ts'

export interface R2BlobOptions {
  bucket: R2Bucket
  /** Stands before every name, joined by `/`, so that instances share a bucket; surrounding slashes are trimmed. None by default. */
  prefix?: string
}

/** bytes: the longest key R2 takes */
const KEY_LIMIT = 1_024

/**
 * Objects in an R2 bucket. A version is the object's etag and not R2's own `version`: a condition of a write can only
 * name etags, and looking first would not be one step. So a rewrite of identical bytes keeps the version, as on S3, and
 * content that went away and came back is not seen to have moved: a writer loses nothing by it, since it read those bytes.
 *
 * A name that is empty, or a key over 1,024 bytes, is Unsupported.
 */
export function r2Blob({ bucket, prefix = '' }: R2BlobOptions): Blob {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '')
  const root = trimmed === '' ? '' : `${trimmed}/`

  return {
    async read(name) {
      const object = await find(name)
      return { body: await reach('reading an object', () => object.bytes().then(copyOf)), version: object.etag }
    },

    async write(name, body) {
      const key = keyOf(name)
      return await reach('writing an object', () => putWhole(bucket, key, body))
    },

    async writeIfVersion(name, body, version) {
      const key = keyOf(name)
      const written = isEtag(version)
        ? await reach('writing an object', () => bucket.put(key, body, { onlyIf: { etagMatches: version } }))
        : null
      if (written) return written.etag
      const standing = await reach('looking at an object', () => bucket.head(key))
      if (!standing) throw absent(name)
      throw new PortError('Conflict', `${name} is of another version`)
    },

    async delete(name) {
      const key = keyOf(name)
      await reach('deleting an object', () => bucket.delete(key))
    },

    async list(namePrefix) {
      const names: string[] = []
      let cursor: string | undefined
      do {
        const options: R2ListOptions = cursor === undefined ? { prefix: root + namePrefix } : { prefix: root + namePrefix, cursor }
        const page = await reach('listing objects', () => bucket.list(options))
        for (const object of page.objects) names.push(object.key.slice(root.length))
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
      return names.sort(compareUtf8)
    },

    async readStream(name) {
      const object = await find(name)
      return { body: object.body, version: object.etag }
    },

    async writeStream(name, body) {
      const key = keyOf(name)
      return await reach('writing an object', () => uploadStream(bucket, key, body))
    },
  }

  async function find(name: string): Promise<R2ObjectBody> {
    const key = keyOf(name)
    const object = await reach('reading an object', () => bucket.get(key))
    if (!object) throw absent(name)
    return object
  }

  function keyOf(name: string): string {
    const key = root + name
    if (name === '' || utf8(key).length > KEY_LIMIT) {
      throw new PortError('Unsupported', `an object has a name, of at most ${KEY_LIMIT} bytes with the prefix`)
    }
    return key
  }
}

/** What R2 gives as an etag; it reads `*` and lists of quoted ones as conditions of their own. */
function isEtag(version: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(version)
}

function absent(name: string): PortError {
  return new PortError('NotFound', `no object ${name}`)
}

function copyOf(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes)
}

async function reach<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw toPortError(error, doing)
  }
}
