import type { Bytes } from './bytes.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]))

/** base64url without padding (RFC 4648 section 5). */
export function encodeBase64url(bytes: Bytes): string {
  let text = ''
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 6) {
      bits -= 6
      text += ALPHABET[(held >> bits) & 63]
    }
  }
  return bits === 0 ? text : text + ALPHABET[(held << (6 - bits)) & 63]
}

/** The bytes, or null when the text is not exactly what encodeBase64url writes: padding, other letters and stray bits are refused. */
export function decodeBase64url(text: string): Bytes | null {
  if (text.length % 4 === 1) return null
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (const letter of text) {
    const value = VALUES.get(letter)
    if (value === undefined) return null
    held = ((held << 6) | value) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = (held >> bits) & 0xff
    }
  }
  const stray = held & ((1 << bits) - 1)
  return stray === 0 ? bytes : null
}

/** Standard base64 with padding (RFC 4648 section 4). */
export function encodeBase64(bytes: Bytes): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}

/** The bytes, or null when the text is not standard base64. */
export function decodeBase64(text: string): Bytes | null {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return null
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}
