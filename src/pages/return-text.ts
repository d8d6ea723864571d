import { isLoopbackHost } from '../config/values.ts'

const THIS_COMPUTER = 'a program on this computer'

/**
 * Where a sign-in returns to, as a page says it: the host alone, since a person can judge neither scheme, port nor path. What stays on
 * the computer (loopback names and addresses, RFC 6761 section 6.3 and RFC 1122 section 3.2.1.3; custom schemes, RFC 8252 section 7.1)
 * is a program on it. An international name reads as its ASCII form, so that no look-alike letter passes.
 */
export function returnText(redirectUri: string): string {
  if (!URL.canParse(redirectUri)) return THIS_COMPUTER
  const { protocol, hostname } = new URL(redirectUri)
  if (protocol !== 'https:' && protocol !== 'http:') return THIS_COMPUTER
  const local = isLoopbackHost(hostname) || hostname.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(hostname)
  return local ? THIS_COMPUTER : hostname
}
