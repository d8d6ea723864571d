import { expect, it } from 'vitest'
import { claimText } from './claims-table.ts'

it.each([
  ['sub', 'ada@acme.example', 'ada@acme.example'],
  ['groups', ['emp:all', 'app:demo:user'], 'emp:all, app:demo:user'],
  ['email_verified', true, 'true'],
  ['level', 3, '3'],
  ['address', { city: 'Paris' }, '{"city":"Paris"}'],
])('shows %s %j as %s', (name, value, expected) => {
  expect(claimText(name, value)).toBe(expected)
})

it('shows a time as people read it, with its number', () => {
  expect(claimText('exp', 1_800_000_000)).toMatch(/2027.*\(1800000000\)$/)
})
