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

/** The URI less its port, or null when it is no plain loopback URI. Nothing but the port is parsed: the rest is compared as it is written. */
function withoutLoopbackPort(uri: string): string | null {
  const [, host = '', rest = ''] = /^http:\/\/([^/?#:@[]+|\[[^/?#@\]]+\])(?::(?:0|[1-9][0-9]{0,4}))?(|[/?].*)$/.exec(uri) ?? []
  // A port over 65535 makes it no URI.
  return isLoopbackHost(host) && !rest.includes('#') && URL.canParse(uri) ? `http://${host}${rest}` : null
}
