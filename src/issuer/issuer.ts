import type { Audit } from '../audit/audit.ts'
import type { Policy } from '../config/policy.ts'
import type { Directory } from '../directory/directory.ts'
import type { Limiter } from '../http/rate-limit.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { Site } from '../pages/site.ts'
import type { HeldGroups } from '../policy/held-groups.ts'
import type { Index } from '../ports/index-set.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { State } from '../ports/state.ts'
import type { Ending } from '../records/ending.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Budget } from '../ticks/budget.ts'
import type { ClientSecrets } from './client-secrets.ts'

/** Everything an endpoint works with. Built by compose; `log` and `requestId` are the request's own. */
export interface Issuer {
  /** The issuer identifier: an origin, no trailing slash. */
  url: string
  /** What every page says of this installation. */
  site: Site
  policy: Policy
  /** What somebody holds under the policy. */
  heldGroups: HeldGroups
  /** State and Index of module oidc. */
  state: State
  index: Index
  /** Cached: an isolate reads a secret at most once a minute. */
  secrets: Secrets
  clientSecrets: ClientSecrets
  keyring: Keyring
  directory: Directory
  /** What a sign-in here can reach (OpenID Connect Core section 2). Discovery lists them. */
  acrValues: readonly string[]
  limits: Limits
  clock: Clock
  random: Random
  audit: Audit
  metrics: Metrics
  log: Log
  requestId: string
  /** What this invocation may still ask of stores and of others. */
  calls: Budget
  /** Tells the clients of an ending, after the answer. */
  tell(ending: Ending): void
}

/** The brakes on guessing, each the platform's. */
export interface Limits {
  /** Per client and address, at the token endpoint. */
  token: Limiter
  /** Per address, where a user code is typed. */
  userCode: Limiter
  /** Per address, for sign-ins that failed; never per account, which would let anybody lock anybody out. */
  signIn: Limiter
  /** Per device code's hash, at the token endpoint. */
  devicePoll: Limiter
}

/** unix seconds, floored: what claims and lifetimes count in. */
export function nowSeconds(issuer: Pick<Issuer, 'clock'>): number {
  return Math.floor(issuer.clock.now() / 1000)
}
