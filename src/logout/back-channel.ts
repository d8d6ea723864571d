import { declared, type Policy } from '../config/policy.ts'
import { type ExternalAnswer, type ExternalFailure, externalFetch } from '../http/external-fetch.ts'
import { isPortError } from '../ports/error.ts'
import type { Fetch } from '../ports/platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { fairQueue } from './fair-queue.ts'
import type { Lease } from './leases.ts'
import { type LogoutTokenParts, logoutToken } from './logout-token.ts'
import type { LeasedTarget, LogoutStore } from './store.ts'

export type BackChannelTarget = Pick<LeasedTarget, 'delivery_id' | 'client_id' | 'subject' | 'sid'>

/** `clock` goes on while this runs: a request's own, which stands still, never sees the lease end. */
export interface DeliveryParts extends LogoutTokenParts {
  store: Pick<LogoutStore, 'acknowledgeTargets' | 'releaseTargets'>
  policy: Policy
  fetch: Fetch
  log: Log
  metrics?: Metrics
  /** ms a client has to answer; 5 s unless a test is in a hurry */
  timeout?: number
}

/** What became of one row. `gone`: there is nobody to tell any more. */
export type DeliveryOutcome =
  | { client: string; result: 'told' | 'failed'; status: number }
  | { client: string; result: 'failed'; reason: ExternalFailure | 'not signed' | 'silent a moment ago' }
  | { client: string; result: 'gone'; reason: 'not in the policy' | 'no address' }

export interface DeliverySummary {
  told: number
  /** Due again after a while. */
  failed: number
  gone: number
  /** Not begun, because the lease ends: their own end of it brings them back. */
  left: number
  outcomes: readonly DeliveryOutcome[]
}

/** Of the six connections an invocation has, one stays for the store */
const AT_ONCE = 5

const TIMEOUT = 5_000 // ms: a client only has to note what it is told

/**
 * Tells clients that sessions have ended (OpenID Connect Back-Channel Logout 1.0 section 2.5), each row with a token of its own. A 2xx takes
 * the row away; anything else releases it for a later attempt. Five at a time, and a client that has others waiting behind it gets no more of
 * the five than they do. One that was silent once is not asked again in this run: its other rows are released.
 *
 * The address is the one the policy has for the client now. A row outlives policies: an address that is no longer listed may be somebody
 * else's, and a client that moved is to be told where it is. A client the policy no longer has, or no longer has an address for, is gone.
 *
 * At most three calls a target: the client's, and two of the store to take its row away or release it.
 *
 * @returns also when the store fails: a row that could not be taken away or released comes back when its lease ends
 * @throws what the keyring throws but for Unavailable
 */
export async function deliver(targets: readonly BackChannelTarget[], lease: Lease, parts: DeliveryParts): Promise<DeliverySummary> {
  const queue = fairQueue(targets)
  const outcomes: DeliveryOutcome[] = []
  const work = async () => {
    while (hasTime(lease, parts)) {
      const target = queue.take()
      if (target === undefined) return
      const outcome = await tell(target, parts)
      const skipped = isSilence(outcome) ? queue.drop(target.client_id) : []
      outcomes.push(outcome, ...skipped.map(({ client_id }) => skippedOf(client_id)))
      await settle([target, ...skipped], outcome, lease, parts)
      queue.done(target)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  logOutcomes(outcomes, parts.log)
  for (const { result } of outcomes) parts.metrics?.count('deliveries', { channel: 'back', outcome: result })
  return summary(outcomes, targets.length)
}

/** Nothing is begun that might end after the lease, when another worker may have the row. */
function hasTime({ until }: Lease, { clock, timeout = TIMEOUT }: DeliveryParts): boolean {
  return clock.now() + timeout < until * 1000
}

async function tell(target: BackChannelTarget, parts: DeliveryParts): Promise<DeliveryOutcome> {
  const { client_id } = target
  const client = declared(parts.policy.clients, client_id)
  if (client === undefined) return { client: client_id, result: 'gone', reason: 'not in the policy' }
  const address = client.backchannel_logout_uri
  if (address === undefined) return { client: client_id, result: 'gone', reason: 'no address' }

  let token: string
  try {
    token = await logoutToken(target, client, parts)
  } catch (error) {
    if (!isPortError(error, 'Unavailable')) throw error
    return { client: client_id, result: 'failed', reason: 'not signed' }
  }
  return outcomeOf(client_id, await send(address, token, parts))
}

function send(address: string, token: string, { fetch, url, timeout = TIMEOUT }: DeliveryParts): Promise<ExternalAnswer> {
  const request = {
    method: 'POST',
    // said here, for a body of URLSearchParams would add a charset, which the type has no parameter for
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token: token }).toString(),
  } as const
  return externalFetch(address, request, { fetch, url, timeout })
}

/** Section 2.8 asks for 200 and allows for frameworks that say 204; another 2xx says no less. */
function outcomeOf(client: string, answer: ExternalAnswer): DeliveryOutcome {
  if (!answer.answered) return { client, result: 'failed', reason: answer.reason }
  return { client, result: answer.status >= 200 && answer.status < 300 ? 'told' : 'failed', status: answer.status }
}

function isSilence(outcome: DeliveryOutcome): boolean {
  return 'reason' in outcome && outcome.reason === 'timed out'
}

function skippedOf(client: string): DeliveryOutcome {
  return { client, result: 'failed', reason: 'silent a moment ago' }
}

async function settle(
  targets: readonly BackChannelTarget[],
  { client, result }: DeliveryOutcome,
  lease: Lease,
  { store, log }: DeliveryParts,
): Promise<void> {
  const deliveries = targets.map(({ delivery_id }) => delivery_id)
  try {
    if (result === 'failed') await store.releaseTargets(lease.id, deliveries)
    else await store.acknowledgeTargets(lease.id, deliveries)
  } catch (error) {
    if (!isPortError(error)) throw error
    log.warn('logout.not_settled', { client, count: deliveries.length, error })
  }
}

/** A line for each way it went with each client. */
function logOutcomes(outcomes: readonly DeliveryOutcome[], log: Log): void {
  const lines = new Map<string, { outcome: DeliveryOutcome; count: number }>()
  for (const outcome of outcomes) {
    const way = JSON.stringify(outcome)
    const line = lines.get(way)
    lines.set(way, { outcome, count: (line?.count ?? 0) + 1 })
  }
  for (const { outcome, count } of lines.values()) {
    const { result, ...fields } = outcome
    if (result === 'failed') log.warn('logout.failed', { ...fields, count })
    else log.info(`logout.${result}`, { ...fields, count })
  }
}

function summary(outcomes: readonly DeliveryOutcome[], targets: number): DeliverySummary {
  const count = (result: DeliveryOutcome['result']) => outcomes.filter((outcome) => outcome.result === result).length
  return { told: count('told'), failed: count('failed'), gone: count('gone'), left: targets - outcomes.length, outcomes }
}
