import { expect, it } from 'vitest'
import { globProblem, matchesAnything } from './glob.ts'

it.each(['a', '*', 'acme/*', 'a?c', '[a-z]*', '[^a-z]', '[abc]', '\\[]', '\\*', '[\\]]', '[\\--\\-]', '[^^]', 'ä*', ']', '-'])(
  'a pattern may be %s',
  (pattern) => {
    expect(globProblem(pattern)).toBeNull()
  },
)

it.each(['[', '[]', '[a', '[a-]', '[-a]', '[^]', 'a[]a]', '[a-b-c]', '[\\'])('a class is none in %s', (pattern) => {
  expect(globProblem(pattern)).toBe('has a [ that begins no class like [abc], [a-z] or [^a-z]')
})

it.each(['\\', 'acme/\\'])('a backslash is before something, and not so in %s', (pattern) => {
  expect(globProblem(pattern)).toBe('ends in a \\ that is before nothing')
})

it.each<[string, boolean]>([
  ['*', true],
  ['*/*', true],
  ['???', true],
  ['[a-z]*', true],
  ['[\\]]*', true],
  ['\\*', false],
  ['\\[*]', false],
  ['*a', false],
  ['acme/*', false],
])('a pattern of wildcards alone holds a value to nothing: %s', (pattern, anything) => {
  expect(matchesAnything(pattern)).toBe(anything)
})
