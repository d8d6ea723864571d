import { describe, expect, it } from 'vitest'
import { utf8 } from './bytes.ts'
import { equalBytes, equalSecret } from './equal.ts'

describe('equalBytes', () => {
  it('is true of the same bytes alone', () => {
    expect(equalBytes(new Uint8Array(0), new Uint8Array(0))).toBe(true)
    expect(equalBytes(utf8('same'), utf8('same'))).toBe(true)
    expect(equalBytes(utf8('same'), utf8('sama'))).toBe(false)
    expect(equalBytes(utf8('same'), utf8('tame'))).toBe(false)
    expect(equalBytes(new Uint8Array([0]), new Uint8Array([0, 0]))).toBe(false)
    expect(equalBytes(new Uint8Array([1, 2]), new Uint8Array([2, 1]))).toBe(false)
    expect(equalBytes(new Uint8Array([0x80]), new Uint8Array([0]))).toBe(false)
  })
})

describe('equalSecret', () => {
  it('is true of the same text alone', async () => {
    expect(await equalSecret('', '')).toBe(true)
    expect(await equalSecret('hunter2é', 'hunter2é')).toBe(true)
    for (const other of ['', 'hunter2', 'hunter2e', 'hunter2é ', 'Hunter2é']) expect(await equalSecret('hunter2é', other)).toBe(false)
  })
})
