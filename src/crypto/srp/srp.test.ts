import { SRPParameters, SRPRoutines, SRPServerSession } from 'tssrp6a'
import { describe, expect, it } from 'vitest'
import { type Bytes, concat, utf8 } from '../bytes.ts'
import { rfc5054of1024, rfc5054of2048 } from './group.ts'
import { modPow } from './mod-pow.ts'
import { fromBytes, toBytes } from './numbers.ts'
import {
  clientProofs,
  clientPublic,
  clientSecret,
  multiplier,
  pad,
  publicValue,
  type Srp,
  scrambler,
  serverProofs,
  serverPublic,
  serverSecret,
  signInSrp,
  verifierFrom,
} from './srp.ts'

async function sha1(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-1', bytes))
}

const drawn = (length = 32) => fromBytes(crypto.getRandomValues(new Uint8Array(length)))
const number = (...digits: string[]) => BigInt(`0x${digits.join('')}`)

describe('the vectors of RFC 5054 appendix B', () => {
  const rfc: Srp = { group: rfc5054of1024, hash: sha1 }
  const k = number('7556AA045AEF2CDD07ABAF0F665C3E818913186F')
  const v = number(
    '7E273DE8696FFC4F4E337D05B4B375BEB0DDE1569E8FA00A9886D8129BADA1F1822223CA1A605B530E379BA4729FDC59F105B4787E5186F5C671085A1447B52A',
    '48CF1970B4FB6F8400BBF4CEBFBB168152E08AB5EA53D15C1AFF87B2B9DA6E04E058AD51CC72BFC9033B564E26480D78E955A5E29E7AB245DB2BE315E2099AFB',
  )
  const a = number('60975527035CF2AD1989806F0407210BC81EDC04E2762A56AFD529DDDA2D4393')
  const b = number('E487CB59D31AC550471E81F00F6928E01DDA08E974A004F49E61F5D105284D20')
  const A = number(
    '61D5E490F6F1B79547B0704C436F523DD0E560F0C64115BB72557EC44352E8903211C04692272D8B2D1A5358A2CF1B6E0BFCF99F921530EC8E39356179EAE45E',
    '42BA92AEACED825171E1E8B9AF6D9C03E1327F44BE087EF06530E69F66615261EEF54073CA11CF5858F0EDFDFE15EFEAB349EF5D76988A3672FAC47B0769447B',
  )
  const B = number(
    'BD0C61512C692C0CB6D041FA01BB152D4916A1E77AF46AE105393011BAF38964DC46A0670DD125B95A981652236F99D9B681CBF87837EC996C6DA04453728610',
    'D0C6DDB58B318885D7D82C7F8DEB75CE7BD4FBAA37089E6F9C6059F388838E7A00030B331EB76840910440B1B27AAEAEEB4012B7D7665238A8E3FB004B117B58',
  )
  const u = number('CE38B9593487DA98554ED47D70A7AE5F462EF019')
  const S = number(
    'B0DC82BABCF30674AE450C0287745E7990A3381F63B387AAF271A10D233861E359B48220F7C4693C9AE12B0A6F67809F0876E2D013800D6C41BB59B6D5979B5C',
    '00A172B4A2A5903A0BDCAF8A709585EB2AFAFA8F3499B200210DCC1F10EB33943CD67FC88A2F39A4BE5BEC4EC0A3212DC346D7E474B29EDE8A469FFECA686E5A',
  )
  const secret = async () => {
    const salt = toBytes(number('BEB25379D1A8581EB5A727673A2441EE'), 16)
    return fromBytes(await sha1(concat(salt, await sha1(utf8('alice:password123')))))
  }

  it('k, v, A, B and u are as there', async () => {
    expect(await multiplier(rfc)).toBe(k)
    expect(verifierFrom(await secret(), rfc)).toBe(v)
    expect(clientPublic(a, rfc)).toBe(A)
    expect(await serverPublic({ v, b }, rfc)).toBe(B)
    expect(await scrambler({ A, B }, rfc)).toBe(u)
  })

  it('both sides come to the same S', async () => {
    expect(serverSecret({ A, v, b, u }, rfc)).toBe(S)
    expect(await clientSecret({ B, a, x: await secret(), u }, rfc)).toBe(S)
  })
})

describe('2048 bits with SHA-256', () => {
  const { group } = signInSrp

  /** What a whole exchange comes to, with the password of the client `x` and the server's verifier of `kept`. */
  async function exchange(x: bigint, kept = x) {
    const [a, b, v] = [drawn(), drawn(), verifierFrom(kept, signInSrp)]
    const [A, B] = [clientPublic(a, signInSrp), await serverPublic({ v, b }, signInSrp)]
    return { client: await clientProofs({ A, B, a, x }, signInSrp), server: await serverProofs({ A, B, b, v }, signInSrp) }
  }

  it('the right password makes both sides agree on both proofs', async () => {
    const { client, server } = await exchange(drawn())
    expect(client).not.toBeNull()
    expect(client).toEqual(server)
    expect(client?.M1).not.toEqual(client?.M2)
  })

  it('another password agrees on neither', async () => {
    const { client, server } = await exchange(drawn(), drawn())
    expect(client?.M1).not.toEqual(server?.M1)
    expect(client?.M2).not.toEqual(server?.M2)
  })

  it('who sees a verifier can not prove the password with it', async () => {
    const x = drawn()
    const { client, server } = await exchange(verifierFrom(x, signInSrp), x)
    expect(client?.M1).not.toEqual(server?.M1)
  })

  it('u = 0 is nothing to take part in, on either side', async () => {
    const zeros: Srp = { group, hash: async () => new Uint8Array(32) }
    expect(await serverProofs({ A: 4n, B: 8n, b: 3n, v: 16n }, zeros)).toBeNull()
    expect(await clientProofs({ A: 4n, B: 8n, a: 2n, x: 4n }, zeros)).toBeNull()
  })

  it.each<[string, Bytes]>([
    ['0', toBytes(0n, 256)],
    ['N', pad(group.N, group)],
    ['N + 1', pad(group.N + 1n, group)],
    ['2N, a byte longer', toBytes(2n * group.N, 257)],
    ['what is a byte short', toBytes(5n, 255)],
    ['what is a zero longer', toBytes(5n, 257)],
    ['nothing', new Uint8Array(0)],
  ])('%s is no public value', (_what, bytes) => {
    expect(publicValue(bytes, group)).toBeNull()
  })

  it('1 and N - 1 are, and come back as they went', () => {
    for (const value of [1n, group.N - 1n]) expect(publicValue(pad(value, group), group)).toBe(value)
  })

  it('a number that does not fit is never cut off', () => {
    expect(() => toBytes(256n, 1)).toThrow(RangeError)
    expect(() => toBytes(-1n, 1)).toThrow(RangeError)
  })
})

/**
 * Another implementation's words for it. It agrees on k, v, u, B and S as it is, and on nothing else: its x is one hash and its M1 and M2 hash
 * S itself, unpadded. So it is told our x, and compared up to S; M1 and M2 are held by the exchange above, on both sides of our own.
 */
describe('tssrp6a as the other side', () => {
  const theirs = new SRPRoutines(new SRPParameters(SRPParameters.PrimeGroup[2048], SRPParameters.H.SHA256))

  it('has the same group, k, v and u', async () => {
    const [x, A, B] = [drawn(), drawn(256) % rfc5054of2048.N, drawn(256) % rfc5054of2048.N]
    expect(theirs.parameters.primeGroup).toEqual({ N: rfc5054of2048.N, g: rfc5054of2048.g })
    expect(await theirs.computeK()).toBe(await multiplier(signInSrp))
    expect(theirs.computeVerifier(x)).toBe(verifierFrom(x, signInSrp))
    expect(await theirs.computeU(A, B)).toBe(await scrambler({ A, B }, signInSrp))
  })

  it('as the server comes to the S of our client', async () => {
    const [x, a] = [drawn(), drawn()]
    const A = clientPublic(a, signInSrp)
    const server = await new SRPServerSession(theirs).step1('recovery', 1n, verifierFrom(x, signInSrp))
    const u = await scrambler({ A, B: server.B }, signInSrp)
    expect(await server.sessionKey(A)).toBe(await clientSecret({ B: server.B, a, x, u }, signInSrp))
  })

  it('as the client comes to the S of our server', async () => {
    const [x, a, b] = [drawn(), drawn(), drawn()]
    const v = verifierFrom(x, signInSrp)
    const [A, B] = [theirs.computeClientPublicValue(a), await serverPublic({ v, b }, signInSrp)]
    const u = await theirs.computeU(A, B)
    const S = theirs.computeClientSessionKey(await theirs.computeK(), x, u, a, B)
    expect(S).toBe(serverSecret({ A, v, b, u }, signInSrp))
  })
})

describe('modPow', () => {
  /** By square and multiply, as it is written. */
  function plainly(base: bigint, exponent: bigint, modulus: bigint): bigint {
    let result = 1n
    for (const bit of exponent.toString(2)) result = (((result * result) % modulus) * (bit === '1' ? base : 1n)) % modulus
    return result
  }

  it('is a power for every exponent, whatever its bits', () => {
    const modulus = 1_000_003n
    for (let exponent = 0n; exponent < 2_000n; exponent++) expect(modPow(7n, exponent, modulus)).toBe(plainly(7n, exponent, modulus))
    for (const bits of ['1'.repeat(256), `1${'0'.repeat(255)}`, '10000'.repeat(50), '100001'.repeat(40), '11111'.repeat(51)]) {
      const exponent = BigInt(`0b${bits}`)
      expect(modPow(3n, exponent, rfc5054of2048.N)).toBe(plainly(3n, exponent, rfc5054of2048.N))
    }
  })

  it('takes a base past the modulus', () => {
    expect(modPow(17n + 5n, 3n, 17n)).toBe(6n)
    expect(modPow(17n, 3n, 17n)).toBe(0n)
  })
})
