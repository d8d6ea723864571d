import type { Client } from '../../config/policy.ts'
import { equalSecret } from '../../crypto/equal.ts'
import { isPortError } from '../../ports/error.ts'
import type { Secret, SecretRead } from '../../ports/secrets.ts'
import { clientSecretPath, isGenerated, readClientSecret } from '../../records/client-secret.ts'
import type { Issuer } from '../issuer.ts'

/** s: a secret that is refused is compared with what the store has now, and the store asked this often by whoever guesses */
const RECHECK = 5

/**
 * Whether a client was presented with its secret, or with the one before it while that is accepted. An isolate learns of a rotation when the
 * new secret is first presented to it: what it holds is then too old to refuse by.
 *
 * @throws PortError Unavailable when the secret can't be read
 */
export async function isSecretOf(id: string, client: Client, presented: string, issuer: Issuer): Promise<boolean> {
  const path = clientSecretPath(id, client)
  if (path === null) return false
  const held = await keptSecret(path, {}, issuer)
  if (held !== null && (await matches(id, path, held, presented, issuer))) return true

  if (held === null && isGenerated(client)) await issuer.clientSecrets.make(id, issuer)
  const now = await keptSecret(path, { maxAge: RECHECK }, issuer)
  if (now === null) {
    issuer.log.error('client.secret_missing', { client: id })
    return false
  }
  const accepted = readClientSecret(id, path, now)
  if ('problem' in accepted) {
    issuer.log.error('client.secret_unreadable', { client: id, reason: accepted.problem })
    return false
  }
  return now.version !== held?.version && (await matches(id, path, now, presented, issuer))
}

async function matches(id: string, path: string, kept: Secret, presented: string, { clock }: Issuer): Promise<boolean> {
  const accepted = readClientSecret(id, path, kept)
  if ('problem' in accepted) return false
  const { current, previousUntil } = accepted
  const previous = clock.now() < previousUntil ? accepted.previous : null
  // Both are compared always, so that the time taken doesn't say which one matched.
  const [isCurrent, isPrevious] = await Promise.all([equalSecret(presented, current), equalSecret(presented, previous ?? '')])
  return isCurrent || (previous !== null && isPrevious)
}

async function keptSecret(path: string, read: SecretRead, { secrets }: Issuer): Promise<Secret | null> {
  try {
    return await secrets.get(path, { previous: true, ...read })
  } catch (error) {
    if (isPortError(error, 'NotFound')) return null
    throw error
  }
}
