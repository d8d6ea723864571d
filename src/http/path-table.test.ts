import { expect, it } from 'vitest'
import { pathTable } from './path-table.ts'

const table = pathTable({
  '/': 1,
  '/token': 2,
  '/api/sessions': 3,
  '/api/sessions/:sid': 4,
  '/login/:provider/start': 5,
  '/api/sessions/all': 6,
})

it.each([
  ['/', 1],
  ['/token', 2],
  ['/api/sessions', 3],
  ['/api/sessions/x', 4],
  ['/api/sessions/%ff', 4],
  ['/api/sessions/:sid', 4],
  ['/api/sessions/all', 6],
  ['/login/google/start', 5],
  ['/api/sessions/', undefined],
  ['/api/sessions/a/b', undefined],
  ['/login//start', undefined],
  ['/login/google/stop', undefined],
  ['/token/', undefined],
  ['/Token', undefined],
  ['', undefined],
  ['constructor', undefined],
  ['/constructor', undefined],
])('%s is %s', (path, value) => {
  expect(table(path)).toBe(value)
})
