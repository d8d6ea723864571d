/**
 * What is wrong with a pattern of Go's `path.Match`, or null: `*` any text but a `/`, `?` any one character but that, `[a-z]` and `[^a-z]` a
 * class, `\` before a character that means itself. It matches the whole of a value.
 */
export function globProblem(pattern: string): string | null {
  if (pattern === '') return 'is empty: it would match nothing'
  const rest = pattern.slice(piecesOf(pattern).join('').length)
  if (rest === '') return null
  return rest === '\\' ? 'ends in a \\ that is before nothing' : 'has a [ that begins no class like [abc], [a-z] or [^a-z]'
}

/** Whether nothing in the pattern is a character of its own: what matches it is told by no more than its length and its slashes. */
export function matchesAnything(pattern: string): boolean {
  return piecesOf(pattern).every((piece) => /^(?:[*?/]|\[.*\])$/su.test(piece))
}

const CHARACTER = '(?:\\\\[^]|[^\\\\\\]-])' // of a class: bare, or behind a backslash
const PIECE = new RegExp(`\\[(?:\\^|(?!\\^))(?:${CHARACTER}(?:-${CHARACTER})?)+\\]|\\\\[^]|[^\\\\[]`, 'guy')

/** The pattern a character or a class at a time, up to what is neither. */
function piecesOf(pattern: string): string[] {
  return Array.from(pattern.matchAll(PIECE), ([piece]) => piece)
}
