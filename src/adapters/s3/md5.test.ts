import { expect, it } from 'vitest'
import { hex, utf8 } from '../../crypto/bytes.ts'
import { md5 } from './md5.ts'
import { multipartEtag } from './multipart-etag.ts'

// RFC 1321, appendix A.5
it.each([
  ['', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['a', '0cc175b9c0f1b6a831c399e269772661'],
  ['abc', '900150983cd24fb0d6963f7d28e17f72'],
  ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
  ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e4007dfb496cca67e13b'],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 'd174ab98d277d9f5a5611c2c9f419d9f'],
  ['12345678901234567890123456789012345678901234567890123456789012345678901234567890', '57edf4a22be3c955ac49da2e2107b67a'],
])('the MD5 of "%s" is %s', (text, digest) => {
  expect(hex(md5(utf8(text)))).toBe(digest)
})

it('the MD5 agrees with the runtime at every length around a block', async () => {
  for (let length = 50; length < 140; length++) {
    const message = Uint8Array.from({ length }, (_, at) => (at * 7) & 0xff)
    expect(md5(message), String(length)).toEqual(new Uint8Array(await crypto.subtle.digest('MD5', message)))
  }
})

it('the ETag of parts is the MD5 of their MD5s and how many there are', async () => {
  const parts = [utf8('one'), utf8('two')].map(md5)
  const whole = new Uint8Array(await crypto.subtle.digest('MD5', Uint8Array.from(parts.flatMap((part) => [...part]))))
  expect(multipartEtag(parts.map(hex))).toBe(`${hex(whole)}-2`)
  expect(multipartEtag(['no-md5'])).toBeNull()
})
