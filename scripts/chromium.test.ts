import { afterEach, expect, test, vi } from 'vitest'
import { ensureChromium, findChromium } from './chromium.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('CHROMIUM_PATH decides, where it names a program', () => {
  vi.stubEnv('CHROMIUM_PATH', process.execPath)
  expect(findChromium()).toBe(process.execPath)
  expect(ensureChromium()).toBe(process.execPath)
})

test('a CHROMIUM_PATH that names none is an error, and nothing is installed in its place', () => {
  vi.stubEnv('CHROMIUM_PATH', `${process.execPath}-none`)
  expect(findChromium()).toBeUndefined()
  expect(() => ensureChromium()).toThrow(`CHROMIUM_PATH is ${process.execPath}-none, where there is no program`)
})
