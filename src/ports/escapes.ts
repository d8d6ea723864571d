const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const ESCAPES = Array.from({ length: 256 }, (_, byte) => `~${hexOf(byte).toUpperCase()}`)

/**
 * A name as one segment of a dotted key: every UTF-8 byte but letters, digits, `-` and `_` is `~XX` in upper-case hex,
 * so that no name can end its segment (seed: keys).
 */
export function escapeSegment(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, (others) => {
    let escaped = ''
    for (const byte of encoder.encode(others)) escaped += ESCAPES[byte]
    return escaped
  })
}

/** The name that `escapeSegment` writes exactly so, or null: `~41` and `~e9` are nobody's spelling. */
export function unescapeSegment(segment: string): string | null {
  if (/^[A-Za-z0-9_-]*$/.test(segment)) return segment
  if (!/^(?:[A-Za-z0-9_-]|~[0-9A-F]{2})*$/.test(segment)) return null
  const letters = segment.replace(/~(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const name = textOf(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)))
  return name !== null && escapeSegment(name) === segment ? name : null
}

/**
 * A name as one segment of a secret's address. One that is empty, `.`, `..`, starts `u-` or holds a character outside
 * `[A-Za-z0-9._-]` is `u-` and its bytes in lower-case hex (seed: storage-layout, "Unsafe segment").
 */
export function escapePathSegment(name: string): string {
  const safe = /^[A-Za-z0-9._-]+$/.test(name) && name !== '.' && name !== '..' && !name.startsWith('u-')
  return safe ? name : `u-${Array.from(encoder.encode(name), hexOf).join('')}`
}

/** The name behind a segment of a secret's address; a `u-` that starts no hex of a text stands for itself. */
export function unescapePathSegment(segment: string): string {
  const hex = /^u-((?:[0-9a-f]{2})*)$/.exec(segment)?.[1]
  if (hex === undefined) return segment
  return textOf(Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))) ?? segment
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}
