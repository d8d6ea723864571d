import { expect, it } from 'vitest'
import { wantsPage } from './accept.ts'

it.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['application/json, TEXT/HTML', true],
  ['*/*', false],
  ['application/json', false],
  ['text/plain', false],
  [undefined, false],
])('Accept %j wants a page: %j', (accept, expected) => {
  expect(wantsPage(new Request('https://issuer.example/', { headers: accept === undefined ? {} : { accept } }))).toBe(expected)
})
