import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

/** RFC 9700 section 2.1.1: S256 only; `plain`, and the default to it, are refused. */
export const challengeMethods = ['S256'] as const

const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/ // base64url of a SHA-256 (RFC 7636 section 4.2)

/** RFC 7636: required of public clients; what is sent must be whole. */
export const pkce: Check = ({ parameters, client }) => {
  const challenge = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  if (challenge === undefined) {
    if (method !== undefined) throw invalidRequest('code_challenge_method came without a code_challenge')
    if (client.kind === 'public') throw invalidRequest('code_challenge is required of a public client (PKCE, method S256)')
    return {}
  }
  if (method !== 'S256') throw invalidRequest('code_challenge_method must be S256')
  if (!S256_CHALLENGE.test(challenge)) throw invalidRequest('code_challenge must be the base64url SHA-256 of the verifier, 43 characters')
  return { code_challenge: challenge }
}
