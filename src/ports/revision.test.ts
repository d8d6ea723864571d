import { describe, expect, it } from 'vitest'
import type { Bytes } from './platform.ts'
import { drawRev } from './revision.ts'

function drawing(...draws: number[][]) {
  return { bytes: (): Bytes => new Uint8Array(draws.shift() ?? []) }
}

describe('a drawn revision', () => {
  it('is eight random bytes in decimal, with every bit of a uint64', () => {
    expect(drawRev(drawing([0, 0, 0, 0, 0, 0, 1, 2]))).toBe('258')
    expect(drawRev(drawing(Array(8).fill(255)))).toBe('18446744073709551615')
    // One above what a JavaScript number holds exactly.
    expect(drawRev(drawing([0, 32, 0, 0, 0, 0, 0, 1]))).toBe('9007199254740993')
  })

  it('is never 0', () => {
    expect(drawRev(drawing(Array(8).fill(0), [0, 0, 0, 0, 0, 0, 0, 7]))).toBe('7')
  })
})
