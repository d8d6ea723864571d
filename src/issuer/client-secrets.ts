import type { Audit } from '../audit/audit.ts'
import type { Policy } from '../config/policy.ts'
import { secretAddress } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Secrets } from '../ports/secrets.ts'
import { createClientSecret, isGenerated } from '../records/client-secret.ts'
import type { Log } from '../telemetry/log.ts'

/** The secrets of clients whose row says `generate`. Made once, and from then on only read, rotated and purged. */
export interface ClientSecrets {
  /**
   * Makes one that is missing, when it has not just been tried here.
   *
   * @throws PortError Unavailable
   */
  make(id: string, invocation: Invocation): Promise<void>
  /** Makes those that are missing, some at a time. @throws PortError Unavailable: one at least was not made */
  makeMissing(invocation: Invocation): Promise<void>
}

/** What is told of what was made. */
interface Invocation {
  audit: Pick<Audit, 'record'>
  log: Log
}

interface ClientSecretParts {
  policy: Policy
  secrets: Secrets
  clock: Clock
  random: Random
}

const RETRY_AFTER = 5_000 // ms: anybody may ask as a client, and no store is to be written to as often as they do
const AT_ONCE = 20 // a call each, two where an answer is lost, of the 50 that a whole invocation has on the free plan

export function createClientSecrets(parts: ClientSecretParts): ClientSecrets {
  const { policy, secrets, clock } = parts
  const triedAt = new Map<string, number>()
  let complete = false

  async function make(id: string, { audit, log }: Invocation): Promise<void> {
    if (Math.abs(clock.now() - (triedAt.get(id) ?? 0)) < RETRY_AFTER) return
    triedAt.set(id, clock.now())
    if ((await createClientSecret(id, parts)) === 'stands') return
    audit.record({ event: 'client_secret.created', client: id, by: 'system' })
    log.info('client.secret_made', { client: id })
  }

  return {
    make,

    async makeMissing(invocation) {
      if (complete) return
      const generated = Object.entries(policy.clients).flatMap(([id, client]) => (isGenerated(client) ? [id] : []))
      const standing = generated.length === 0 ? [] : await secrets.list('external/oidc')
      const missing = generated.filter((id) => !standing.includes(secretAddress.generatedClient(id)))
      const made = await Promise.allSettled(missing.slice(0, AT_ONCE).map((id) => make(id, invocation)))
      const failed = made.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      complete = missing.length === 0 // seen to stand, and not only written
    },
  }
}
