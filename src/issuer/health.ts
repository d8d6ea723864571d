import { json } from '../http/respond.ts'
import type { StateSecretGuard } from '../keyring/state-secret.ts'
import { keys } from '../ports/keys.ts'
import type { Issuer } from './issuer.ts'

/** Whether the Worker runs. It asks nothing of the store: restarting it would not bring a store back. */
export function healthz(): Response {
  return json({ status: 'ok' })
}

/**
 * Whether it can serve: the store answers, every ring has a key, the state secret is the one first seen. 503 when not, saying which.
 *
 * @param guard compares the state secret with its fingerprint
 */
export async function readyz(issuer: Issuer, guard: () => Promise<StateSecretGuard>): Promise<Response> {
  const checks = {
    store: await answered('store', async () => void (await issuer.state.get(keys.maintenance)), issuer),
    signing_keys: await answered('signing keys', async () => void (await issuer.keyring.keySet()), issuer),
    state_secret: await answered('state secret', guard, issuer),
  }
  const ready = Object.values(checks).every((answer) => answer !== 'unavailable' && answer !== 'changed')
  return json({ status: ready ? 'ready' : 'not ready', checks }, { status: ready ? 200 : 503 })
}

async function answered(what: string, ask: () => Promise<string | undefined>, issuer: Issuer): Promise<string> {
  try {
    return (await ask()) ?? 'ok'
  } catch (error) {
    issuer.log.error('readiness.unavailable', { kind: what, error })
    return 'unavailable'
  }
}
