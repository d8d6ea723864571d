import { type Bytes, concat, fromUtf8, utf8 } from '../../crypto/bytes.ts'

/** Text as gzip: what is kept of a directory repeats its addresses, and shrinks to a fifth and less. */
export async function pack(text: string): Promise<Bytes> {
  return readAll(new Blob([utf8(text)]).stream().pipeThrough(new CompressionStream('gzip')))
}

/** The text, or null for what is no gzip of text, or is over `most` bytes when unpacked. */
export async function unpack(bytes: Bytes, most: number): Promise<string | null> {
  try {
    return fromUtf8(await readAll(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')), most))
  } catch {
    return null
  }
}

async function readAll(stream: ReadableStream<Uint8Array>, most = Number.POSITIVE_INFINITY): Promise<Bytes> {
  const reader = stream.getReader()
  const pieces: Bytes[] = []
  for (let length = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return concat(...pieces)
    length += value.byteLength
    if (length > most) {
      await reader.cancel()
      throw new RangeError('unpacks to more than it may')
    }
    pieces.push(new Uint8Array(value))
  }
}
