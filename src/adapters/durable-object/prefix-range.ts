const LAST = 0x10ffff
const BEFORE_SURROGATES = 0xd7ff
const AFTER_SURROGATES = 0xe000

/**
 * The first text, by UTF-8 bytes, after every text that starts with `prefix`; null when there is none. UTF-8 bytes order as code points
 * do, so it is the prefix with its last code point raised by one, over the surrogates, which are none.
 */
export function afterPrefix(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? 0
    if (last !== LAST) return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1)
  }
  return null
}
