import { describe, expect, it } from 'vitest'
import { jsonLog } from '../telemetry/log.ts'
import { brake, clientAddress, limiter, unlimited } from './rate-limit.ts'

const lines: string[] = []
const log = jsonLog((line) => lines.push(line), { now: () => 0 })

function from(address: string | null): Request {
  return new Request('http://localhost:8787/', { headers: address === null ? {} : { 'cf-connecting-ip': address } })
}

describe('a limiter', () => {
  it('asks its binding by the key, and says what it says', async () => {
    const keys: string[] = []
    const binding = {
      async limit({ key }: { key: string }) {
        keys.push(key)
        return { success: key === 'a' }
      },
    }
    const { allows, period } = limiter('TOKEN', binding, 60, log)
    expect([await allows('a'), await allows('b'), period]).toEqual([true, false, 60])
    expect(keys).toEqual(['a', 'b'])
  })

  it('that can not be reached stops nobody, and says so without the key', async () => {
    const broken = limiter('USER_CODE', { limit: () => Promise.reject(new TypeError('192.0.2.1')) }, 60, log)
    expect(await broken.allows('192.0.2.1')).toBe(true)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'warn', event: 'rate_limit.unreachable', kind: 'USER_CODE' })
    expect(lines.at(-1)).not.toContain('192.0.2.1')
  })

  it('that throws before it answers stops nobody', async () => {
    const binding = {
      limit() {
        throw new RangeError()
      },
    }
    expect(await limiter('TOKEN', binding, 60, log).allows('a')).toBe(true)
  })

  it('without a binding allows everything', async () => {
    expect(await limiter('TOKEN', undefined, 60, log).allows('a')).toBe(true)
    expect(await unlimited.allows('a')).toBe(true)
  })
})

describe('the brake', () => {
  it('RFC 6585 4: is 429, and says when to come again', async () => {
    const full = limiter('SIGN_IN', { limit: async () => ({ success: false }) }, 60, log)
    await expect(brake(full, 'a')).rejects.toMatchObject({
      status: 429,
      code: 'too_many_requests',
      words: { headers: { 'retry-after': '60' } },
    })
  })

  it('lets go on whom the limiter allows', async () => {
    await expect(brake(unlimited, 'a')).resolves.toBeUndefined()
  })
})

describe('the address that is counted', () => {
  it.each<[string, string | null, string]>([
    ['an IPv4 address as it is', '192.0.2.7', '192.0.2.7'],
    ['nothing said', null, 'unknown'],
    ['an IPv6 address by its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['the same in upper case', '2001:DB8:1:2:FFFF::1', '2001:db8:1:2'],
    ['the same with leading zeros', '2001:0db8:0001:0002::', '2001:db8:1:2'],
    ['zeros left out within the /64', '2001:db8::1:0:0:0:1', '2001:db8:0:1'],
    ['zeros left out in its host', '2001:db8:0:1::1', '2001:db8:0:1'],
    ['zeros left out across the edge', '2001:db8::1', '2001:db8:0:0'],
    ['zeros written out', '2001:db8:0000:0000:0000:0000:0000:0001', '2001:db8:0:0'],
    ['loopback', '::1', '0:0:0:0'],
    ['the unspecified address', '::', '0:0:0:0'],
  ])('is %s', (_what, address, expected) => {
    expect(clientAddress(from(address))).toBe(expected)
  })
})
