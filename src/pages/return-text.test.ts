import { expect, it } from 'vitest'
import { returnText } from './return-text.ts'

it.each([
  ['https://payroll.acme.example:8443/callback?x=1', 'payroll.acme.example'],
  ['https://user:pass@evil.example/cb', 'evil.example'],
  ['https://localhost.evil.example/cb', 'localhost.evil.example'],
  ['https://127.0.0.1.evil.example/', '127.0.0.1.evil.example'],
  ['https://аcme.example/', 'xn--cme-5cd.example'], // a Cyrillic a
])('%s returns to %s', (redirectUri, expected) => {
  expect(returnText(redirectUri)).toBe(expected)
})

it.each([
  'http://localhost:3000/cb',
  'http://app.localhost/cb',
  'http://127.0.0.1/cb',
  'http://127.8.9.1/cb',
  'http://[::1]:1/cb',
  'com.acme.demo:/cb',
  'nonsense',
])('%s returns to a program on this computer', (redirectUri) => {
  expect(returnText(redirectUri)).toBe('a program on this computer')
})
