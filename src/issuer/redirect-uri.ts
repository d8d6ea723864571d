import type { Client } from '../config/policy.ts'
import { isLoopbackHost } from '../config/values.ts'

/**
 * Whether a redirect URI is one the client registered: exactly, byte for byte (RFC 9700 section 4.1.3), except that a native client's
 * loopback redirect may name any port (RFC 8252 section 7.3).
 */
export function isRegistered(client: Client, uri: string): boolean {
  if (client.redirects.includes(uri)) return true
  if (client.kind !== 'public') return false
  const asked = withoutLoopbackPort(uri)
  return asked !== null && client.redirects.some((registered) => withoutLoopbackPort(registered) === asked)
}

/** The URI less its port, or null when it is no plain loopback URI. Only what is spelled as URL parsers write it matches. */
function withoutLoopbackPort(uri: string): string | null {
  const url = URL.canParse(uri) ? new URL(uri) : null
  if (
    url === null ||
    url.protocol !== 'http:' ||
    !isLoopbackHost(url.hostname) ||
    url.username !== '' ||
    url.password !== '' ||
    uri.includes('#')
  )
    return null
  const portless = `http://${url.hostname}${url.pathname}${url.search}`
  const spelled = url.port === '' ? portless : `http://${url.hostname}:${url.port}${url.pathname}${url.search}`
  return spelled === uri ? portless : null
}
