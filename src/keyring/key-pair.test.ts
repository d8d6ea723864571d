import { describe, expect, it } from 'vitest'
import { signingAlg } from '../config/values.ts'
import { generateKeyPair, importPrivateKey, importPublicKey, publicMembers } from './key-pair.ts'

describe('a key pair', () => {
  it.each(signingAlg.options)('of %s has a public half without private members', async (alg) => {
    const { publicKey } = await generateKeyPair(alg)
    expect(publicKey).not.toHaveProperty('d')
    expect(await importPublicKey(alg, publicKey)).not.toBeNull()
  })

  it('of RS256 has 2048 bits', async () => {
    const { publicKey } = await generateKeyPair('RS256')
    expect(publicKey).toMatchObject({ kty: 'RSA', e: 'AQAB', n: expect.stringMatching(/^.{342}$/) })
  })

  it.each(signingAlg.options)('of %s is read back from PKCS#8 as a key that can not be exported', async (alg) => {
    const { publicKey, pkcs8 } = await generateKeyPair(alg)
    expect(await importPrivateKey(alg, pkcs8, publicKey)).toMatchObject({ extractable: false, usages: ['sign'] })
  })

  it('is refused under the public key of another', async () => {
    const [mine, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')]
    expect(await importPrivateKey('ES256', mine.pkcs8, other.publicKey)).toBeNull()
  })

  it('is refused under another algorithm', async () => {
    const { publicKey, pkcs8 } = await generateKeyPair('ES256')
    expect(await importPrivateKey('ES384', pkcs8, publicKey)).toBeNull()
    expect(await importPublicKey('ES384', publicKey)).toBeNull()
  })

  it('is refused when its point is on no curve', async () => {
    const { publicKey } = await generateKeyPair('ES256')
    expect(await importPublicKey('ES256', { ...publicKey, x: publicKey.kty === 'EC' ? publicKey.y : '' })).toBeNull()
  })

  it('is published by the members that are the key, and no other of its record', async () => {
    const { publicKey } = await generateKeyPair('ES256')
    expect(publicMembers({ ...publicKey, x5u: 'https://evil.example/' })).toEqual(publicMembers(publicKey))
  })
})
