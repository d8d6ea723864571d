import type { Bytes } from '../../crypto/bytes.ts'

/** bytes (8 MiB): R2 wants parts of one size, at least 5 MiB; 10,000 of these are 78 GiB, and one is held in memory at a time. */
export const PART_SIZE = 8 * 1024 * 1024

/**
 * Writes a stream of unknown length, which R2 takes only in parts; one that fits a part is written whole. The object
 * appears when its last byte is there: a source or a part that fails leaves what stood before. The etag.
 */
export async function uploadStream(bucket: R2Bucket, key: string, body: ReadableStream<Uint8Array>): Promise<string> {
  const source = parts(body)
  try {
    const first = await source.next()
    if (first.done) return await putWhole(bucket, key, new Uint8Array(0))
    if (first.value.length < PART_SIZE) return await putWhole(bucket, key, first.value)
    return await uploadParts(await bucket.createMultipartUpload(key), first.value, source)
  } finally {
    await source.return()
  }
}

/** Replaces an object in one request. The etag. */
export async function putWhole(bucket: R2Bucket, key: string, body: Bytes): Promise<string> {
  // Options without a condition pick the signature that always answers an object.
  return (await bucket.put(key, body, {})).etag
}

async function uploadParts(upload: R2MultipartUpload, first: Bytes, rest: AsyncIterable<Bytes>): Promise<string> {
  try {
    const uploaded = [await upload.uploadPart(1, first)]
    for await (const part of rest) uploaded.push(await upload.uploadPart(uploaded.length + 1, part))
    return (await upload.complete(uploaded)).etag
  } catch (error) {
    // The parts are invisible already, and R2 drops them after 7 days: an abort that fails leaves only that.
    await upload.abort().catch(() => undefined)
    throw error
  }
}

/** The stream cut into parts: each PART_SIZE long but the last, none empty. The buffer of a part is reused for the next. */
async function* parts(body: ReadableStream<Uint8Array>): AsyncGenerator<Bytes, void, void> {
  const buffer = new Uint8Array(PART_SIZE)
  let held = 0
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PART_SIZE - held)
      buffer.set(taken, held)
      held += taken.length
      at += taken.length
      if (held < PART_SIZE) continue
      yield buffer
      held = 0
    }
  }
  if (held > 0) yield buffer.subarray(0, held)
}
