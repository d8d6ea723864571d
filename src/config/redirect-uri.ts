import { isLoopbackHost } from './values.ts'

/**
 * Why an address can't be registered for a client to be sent back to, or null. Registered addresses are compared as text
 * (RFC 9700 section 2.1), so they must be written the way a browser writes them.
 */
export function redirectUriProblem(uri: string, kind: 'public' | 'confidential'): string | null {
  const problem = spellingProblem(uri)
  if (problem !== null) return problem
  const url = new URL(uri)
  return isWeb(url) ? webProblem(uri, url) : privateUseProblem(uri, url, kind)
}

/** The same of an address that is https, or http on loopback, and nothing else. */
export function webAddressProblem(uri: string): string | null {
  const problem = spellingProblem(uri)
  if (problem !== null) return problem
  const url = new URL(uri)
  return isWeb(url) ? webProblem(uri, url) : `has the scheme ${url.protocol} and is not https`
}

/** Null also means that it parses. */
function spellingProblem(uri: string): string | null {
  if (uri.length > 2_000) return 'is longer than 2000 characters' // what browsers and proxies carry in a line without trouble
  if (!/^[!-~]+$/.test(uri) || /["<>\\^`{|}]/.test(uri)) return 'holds a character no URI has (RFC 3986): encode it as %XX'
  if (uri.includes('*')) return 'holds a wildcard: every address is registered in full'
  if (uri.includes('#')) return 'has a fragment (RFC 6749 section 3.1.2)'
  const url = URL.parse(uri)
  if (url === null) return 'is not an absolute URI'
  if (url.username !== '' || url.password !== '') return 'holds a user name or password'
  return null
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

function webProblem(uri: string, url: URL): string | null {
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) return 'is http: that is for localhost, 127.0.0.1 and [::1] only'
  const written = uri.replace(/^(https?:\/\/[^/?]+)(?=\?|$)/, '$1/') // a browser adds the slash of an empty path; both name the same
  return written === url.href ? null : `is not written as browsers write it: ${url.href}`
}

// RFC 8252 section 7.1 (a scheme of one's own, by domain name) and 8.4: one without a dot is refused. So are javascript:, data: and file:.
function privateUseProblem(uri: string, url: URL, kind: 'public' | 'confidential'): string | null {
  if (!/^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\//.test(uri)) {
    return `has the scheme ${url.protocol} and is neither https nor a private-use scheme like com.acme.app:/callback (RFC 8252 section 7.1)`
  }
  return kind === 'public' ? null : 'has a private-use scheme, which only a public client can have (RFC 8252 section 8.4)'
}
