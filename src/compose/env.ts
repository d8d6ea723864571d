import type { StateShard } from '../adapters/durable-object/state-shard.ts'
import type { RunnerNamespace } from '../adapters/object/runners.ts'
import type { SealedSecrets } from '../adapters/sealed/sealed-secrets.ts'
import type { Service, ServiceVars } from '../config/service.ts'
import { isLoopbackHost } from '../config/values.ts'
import { decodeBase64url } from '../crypto/base64url.ts'
import type { Bytes } from '../crypto/bytes.ts'
import { type Endpoints, GOOGLE } from '../directory/google/endpoints.ts'
import type { RateLimitBinding } from '../http/rate-limit.ts'
import { PortError } from '../ports/error.ts'
import type { Clock, Fetch, Random } from '../ports/platform.ts'
import type { Dataset } from '../telemetry/analytics.ts'
import type { Log } from '../telemetry/log.ts'

/** The bindings, variables and secrets of wrangler.toml and `.dev.vars`. */
export interface Env extends ServiceVars, AwsVars {
  STATE_SHARD: DurableObjectNamespace<StateShard>
  SEALED_SECRETS: DurableObjectNamespace<SealedSecrets>
  RUNNER: RunnerNamespace
  BLOBS: R2Bucket
  ASSETS: Fetcher
  SEAL_KEY?: string
  SEAL_KEY_PREVIOUS?: string
  OPS_KEY?: string
  TOKEN?: RateLimitBinding
  USER_CODE?: RateLimitBinding
  SIGN_IN?: RateLimitBinding
  DEVICE_POLL?: RateLimitBinding
  /** Where metrics are written; absent: they are not counted. */
  METRICS?: Dataset
  /** An origin that stands in for Google's, for tests and development: from a loopback issuer only. */
  GOOGLE_ENDPOINT?: string
  /** Which rooms this Worker is: `all` when absent. */
  ROLE?: string
}

/**
 * Of preset `aws`, under the names every AWS tool has for them: a credential a module (`AWS_OIDC_ACCESS_KEY_ID`, ...), or one for all
 * without the module's name; `AWS_ENDPOINT_URL`, or `AWS_ENDPOINT_URL_DYNAMODB` and the like, where another than AWS's own is meant.
 */
export type AwsVars = { [name: `AWS_${string}`]: string | undefined }

/** What the service is made of beside its bindings, so that a test can say what time it is. */
export interface Platform {
  clock: Clock
  random: Random
  /** How stores outside of Cloudflare are reached. */
  fetch: Fetch
  log: Log
}

/** The rooms this version has. A role that is another Worker's opens none of theirs. */
export function checkRole({ ROLE: role = 'all' }: Env, { directory }: Pick<Service, 'directory'>): void {
  if (role === 'issuer' && directory.kind === 'google')
    throw new PortError('Unavailable', 'ROLE issuer reads no directory, and no other Worker of this version does: ROLE all')
  if (role === 'all' || role === 'issuer') return
  const message = roles.includes(role) ? `ROLE ${role} has no rooms in this version` : `ROLE is ${roles.join(', ')}`
  throw new PortError('Unavailable', message)
}

const roles = ['all', 'issuer', 'controllers', 'backup']

const OPS_KEY_LENGTH = 32 // bytes

/** What operator calls are signed with; null: there is no such route. @throws PortError Unavailable: it is none */
export function opsKey(text: string | undefined): Bytes | null {
  if (text === undefined || text === '') return null
  const key = decodeBase64url(text)
  if (key?.length !== OPS_KEY_LENGTH) throw new PortError('Unavailable', `OPS_KEY must be base64url of ${OPS_KEY_LENGTH} random bytes`)
  return key
}

/** Where Google is: its own addresses, unless a loopback issuer is told otherwise. @throws PortError Unavailable: an issuer off loopback is */
export function googleEndpoints({ GOOGLE_ENDPOINT }: Env, { issuer }: Pick<Service, 'issuer'>): Endpoints {
  if (GOOGLE_ENDPOINT === undefined || GOOGLE_ENDPOINT === '') return GOOGLE
  if (!isLoopbackHost(new URL(issuer).hostname) || !URL.canParse(GOOGLE_ENDPOINT))
    throw new PortError('Unavailable', 'GOOGLE_ENDPOINT is an origin in place of Google, and for an issuer on localhost only')
  const { origin } = new URL(GOOGLE_ENDPOINT)
  return { token: `${origin}/token`, directory: `${origin}/admin/directory/v1` }
}
