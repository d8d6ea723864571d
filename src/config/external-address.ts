import { isLoopbackHost } from './values.ts'

/**
 * Why a request must not go to an address that somebody else chose, or null: it is https, on a public host, with no user name or password.
 * Judged on the URL as its parser leaves it, so `https://0x7f.1/` is 127.0.0.1; what a name resolves to is the platform's to refuse
 * (`global_fetch_strictly_public`). An issuer on loopback may call loopback, by http too: that is somebody's own computer.
 *
 * @param issuer its origin
 */
export function externalAddressProblem(address: string, issuer: string): string | null {
  const url = URL.parse(address)
  if (url === null) return 'is not an absolute URI'
  if (url.username !== '' || url.password !== '') return 'holds a user name or password'
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:'
  if (isWeb && isLoopbackHost(url.hostname) && isLoopbackHost(new URL(issuer).hostname)) return null
  if (url.protocol !== 'https:') return 'is not https (http is for loopback, where the issuer is on loopback too)'
  return hostProblem(url.hostname)
}

function hostProblem(hostname: string): string | null {
  const name = hostname.replace(/\.+$/, '')
  // RFC 6761 section 6.3: every name under localhost is this computer
  if (name === 'localhost' || name.endsWith('.localhost')) return 'is on this computer'
  if (name.startsWith('[')) return isPublicIpv6(name.slice(1, -1)) ? null : NOT_PUBLIC
  if (/^\d+(?:\.\d+){3}$/.test(name)) return isPublicIpv4(name) ? null : NOT_PUBLIC
  return null
}

const NOT_PUBLIC = 'is an address that is not on the public internet'

/** What the IANA registry of special-purpose IPv4 addresses (RFC 6890) does not call globally reachable, and multicast (RFC 5771). */
const SPECIAL_IPV4: readonly (readonly [base: string, bits: number])[] = [
  ['0.0.0.0', 8], // this network, and the unspecified address
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local: clouds serve credentials there
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24], // documentation, as are 198.51.100.0 and 203.0.113.0
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
]

function isPublicIpv4(address: string): boolean {
  const number = ipv4Number(address)
  return !SPECIAL_IPV4.some(([base, bits]) => {
    const size = 2 ** (32 - bits)
    return Math.floor(number / size) === ipv4Number(base) / size
  })
}

function ipv4Number(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

/**
 * Only 2000::/3 is handed out as global unicast (RFC 4291 section 2.4), so loopback, unspecified, unique-local, link-local, multicast,
 * IPv4-mapped and NAT64 addresses are none of it. Of that, what is no host's own: RFC 2928 (Teredo among it), 6to4 and documentation.
 *
 * @param address as the URL parser writes it: lower case, the longest run of zeros left out
 */
function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0] = address.split(':').map((group) => Number.parseInt(group || '0', 16))
  if (first < 0x2000 || first > 0x3fff) return false
  if (first === 0x2001 && (second < 0x0200 || second === 0x0db8)) return false // 2001::/23, 2001:db8::/32
  if (first === 0x2002) return false // 6to4: an IPv4 address in another spelling
  return !(first === 0x3fff && second < 0x1000) // 3fff::/20, documentation (RFC 9637)
}
