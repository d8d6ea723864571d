import { createHash, randomBytes } from 'node:crypto'

/** A verifier and its S256 challenge (RFC 7636 section 4). */
export function drawPkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}
