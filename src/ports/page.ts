import { PortError } from './error.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A page token: base64url without padding of prefix, NUL, the last key of the page. It holds all there is to know, so any
 * replica can go on from it, and a listing of another prefix can't.
 */
export function encodePage(prefix: string, lastKey: string): string {
  const bytes = new TextEncoder().encode(`${prefix}\0${lastKey}`)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/**
 * The key to go on after; null where the listing starts, for no token and the empty one.
 *
 * @throws PortError BadPage: not exactly what `encodePage` writes for this prefix
 */
export function decodePage(token: string | undefined, prefix: string): string | null {
  if (token === undefined || token === '') return null
  const text = decode(token)
  if (text === null || !text.startsWith(`${prefix}\0`)) throw new PortError('BadPage', 'the page token is of no listing of this prefix')
  const lastKey = text.slice(prefix.length + 1)
  // Padding, other letters and stray bits decode too: only one spelling of a token is a token.
  if (encodePage(prefix, lastKey) !== token) throw new PortError('BadPage', 'the page token is misspelt')
  return lastKey
}

function decode(token: string): string | null {
  try {
    const letters = atob(token.replaceAll('-', '+').replaceAll('_', '/'))
    return decoder.decode(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)))
  } catch {
    return null
  }
}
