import { describe, expect, it } from 'vitest'
import { patterned } from '../../../test/conformance/arrange.ts'
import { STATE_VALUE_LIMIT } from '../../ports/state.ts'
import { fromBase64, toBase64 } from './base64.ts'

describe('base64 of binary attributes', () => {
  it('spells the vectors of RFC 4648 section 10', () => {
    const vectors = { '': '', f: 'Zg==', fo: 'Zm8=', foo: 'Zm9v', foob: 'Zm9vYg==', fooba: 'Zm9vYmE=', foobar: 'Zm9vYmFy' }
    for (const [text, spelt] of Object.entries(vectors)) {
      expect(toBase64(new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>)).toBe(spelt)
      expect(new TextDecoder().decode(fromBase64(spelt))).toBe(text)
    }
  })

  it('agrees with the platform on every byte at every place', () => {
    for (let length = 0; length < 260; length++) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7 + length) & 0xff)
      const platform = btoa(String.fromCharCode(...bytes))
      expect(toBase64(bytes)).toBe(platform)
      expect(fromBase64(platform)).toEqual(bytes)
    }
  })

  it('takes a part of a larger buffer for what it shows', () => {
    const part = patterned(1_000).subarray(101, 203)
    expect(fromBase64(toBase64(part))).toEqual(part.slice())
  })

  it('keeps the largest value there is', () => {
    const most = patterned(STATE_VALUE_LIMIT)
    const back = fromBase64(toBase64(most))
    expect(back.length === most.length && back.every((byte, at) => byte === most[at])).toBe(true)
  })

  it('is Unavailable for what no engine that is well answers', () => {
    expect(() => fromBase64('*')).toThrow(expect.objectContaining({ code: 'Unavailable' }))
  })
})
