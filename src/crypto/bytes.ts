/** Bytes that WebCrypto takes as they are: never over shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function utf8(text: string): Bytes {
  return encoder.encode(text) as Bytes // over a buffer of its own, always: the copy that would prove it is made for every digest
}

/** The text, or null when the bytes are not UTF-8. */
export function fromUtf8(bytes: Bytes): string | null {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

export function concat(...parts: Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Lower-case hex. */
export function hex(bytes: Bytes): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

/** Order by UTF-8 bytes: JavaScript's own order is by UTF-16 unit and differs above U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  if (a === b) return 0
  const left = utf8(a)
  const right = utf8(b)
  const shorter = Math.min(left.length, right.length)
  for (let at = 0; at < shorter; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
