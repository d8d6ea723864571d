import type { Random } from '../ports/platform.ts'

/** Twenty letters that spell no word and are not taken for one another (RFC 8628 section 6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8 // 20^8, 34 bits: with the limiter, out of reach of guessing for the ten minutes it lives

/** A user code: eight letters in upper case, no dash. */
export function drawUserCode(random: Random): string {
  let code = ''
  while (code.length < LENGTH) {
    for (const byte of random.bytes(LENGTH)) {
      // 240 is the largest multiple of 20 in a byte: above it some letters would come more often
      if (byte < 240 && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length]
    }
  }
  return code
}

/** As people read it: `XXXX-XXXX`. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** What a person typed, as it stands in the key; null when it can be no user code. */
export function typedUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[^A-Z]/g, '')
  return letters.length === LENGTH && [...letters].every((letter) => ALPHABET.includes(letter)) ? letters : null
}
