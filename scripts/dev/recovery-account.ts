import { secretAddress } from '../../src/ports/keys.ts'
import { callOps, OpsError, type OpsTarget } from '../ops-client.ts'
import { makeVerifier } from '../verifier.ts'

/**
 * Makes the recovery account of a running issuer that has none, as `npm run verifier -- recovery` does.
 *
 * @returns its password, this once; null when it stands already
 * @throws OpsError
 */
export async function makeRecoveryAccount(target: OpsTarget): Promise<string | null> {
  const path = secretAddress.recoveryVerifier
  const { paths } = await callOps(target, { command: 'secret.list', prefix: 'internal/oidc' })
  if (!Array.isArray(paths)) throw new OpsError('unreachable', 200, 'the issuer did not list its secrets')
  if (paths.includes(path)) return null
  const { password, document } = await makeVerifier()
  await callOps(target, { command: 'secret.put', path, value: document })
  return password
}
