import { isLoopbackHost } from '../config/values.ts'

/** A cookie of ours: HttpOnly, SameSite=Lax, Path=/, no Domain. */
export interface Cookie {
  readonly name: string
  readonly secure: boolean
}

/** Ties a pending request to the browser it began in. */
export function browserCookie(issuer: string): Cookie {
  return cookieOf('sluis_browser', issuer)
}

/** The browser's sign-in. */
export function ssoCookie(issuer: string): Cookie {
  return cookieOf('sluis_sso', issuer)
}

/** A sign-in on its way to a provider and back: each has a cookie of its own, so that two tabs do. */
export function upstreamCookie(id: string, issuer: string): Cookie {
  return cookieOf(`${UPSTREAM}${id}`, issuer)
}

const UPSTREAM = 'sluis_upstream_'

/** The ids of the sign-ins under way that the browser names, oldest first: that is the order it sends them in (RFC 6265 section 5.4). */
export function upstreamCookieIds(request: Request, issuer: string): string[] {
  const { name: prefix } = upstreamCookie('', issuer)
  const names = [...parseCookies(request.headers.get('cookie') ?? '').keys()]
  return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
}

/** What the Go service called its own: who moves from it keeps those signed in who were. It is read, never set, and stands for nothing once it has ended. */
const GO_SERVICE: Cookie = { name: '__Host-access_issuer_sso', secure: true }

/** The value of the browser's sign-in cookie, ours before the Go service's. */
export function readSignInCookie(request: Request, issuer: string): string | undefined {
  return readCookie(request, ssoCookie(issuer)) ?? readCookie(request, GO_SERVICE)
}

/** The cookie's value, or undefined. Never throws, whatever the header holds. */
export function readCookie(request: Request, cookie: Cookie): string | undefined {
  return parseCookies(request.headers.get('cookie') ?? '').get(cookie.name)
}

/**
 * RFC 6265 section 5.4, as forgiving as browsers are careless: what has no name or no `=` is passed over. The first of two equal names
 * wins: browsers send the more specific path and the older one first.
 */
export function parseCookies(header: string): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, Math.max(equals, 0)).trim()
    if (name !== '' && !cookies.has(name)) cookies.set(name, pair.slice(equals + 1).trim())
  }
  return cookies
}

/**
 * A Set-Cookie header. Without `maxAge` (whole seconds) it goes when the browser closes.
 *
 * @throws TypeError when the value has characters RFC 6265 section 4.1.1 does not allow: it is ours, so that is a defect
 */
export function setCookie(cookie: Cookie, value: string, { maxAge }: { readonly maxAge?: number } = {}): string {
  if (!/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value)) throw new TypeError('a cookie value must be cookie-octets')
  const age = maxAge === undefined ? '' : `; Max-Age=${maxAge}`
  return `${cookie.name}=${value}; Path=/; HttpOnly; SameSite=Lax${cookie.secure ? '; Secure' : ''}${age}`
}

/** A Set-Cookie header that removes it. */
export function clearCookie(cookie: Cookie): string {
  return setCookie(cookie, '', { maxAge: 0 })
}

/** `__Host-` (RFC 6265bis section 4.1.3.2) wants Secure, and browsers differ on Secure over http to loopback: there, both go. */
function cookieOf(name: string, issuer: string): Cookie {
  const { protocol, hostname } = new URL(issuer)
  const plain = protocol === 'http:' && isLoopbackHost(hostname)
  return plain ? { name, secure: false } : { name: `__Host-${name}`, secure: true }
}
