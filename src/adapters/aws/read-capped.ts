import { type Bytes, concat } from '../../crypto/bytes.ts'

/** The whole body, or null when it is longer than `cap` bytes: then the rest is cancelled, since an unread body holds a connection. */
export async function readCapped(response: Response, cap: number): Promise<Bytes | null> {
  if (response.body === null) return new Uint8Array(0)
  const reader = response.body.getReader()
  const parts: Bytes[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concat(...parts)
    length += value.length
    if (length > cap) {
      await reader.cancel().catch(() => undefined) // a body that broke while it was being dropped is dropped all the same
      return null
    }
    parts.push(value)
  }
}
