import packageJson from '../package.json' with { type: 'json' }
import type { AwsCredentials, AwsService } from './adapters/aws/aws.ts'
import { jsonClient } from './adapters/aws/json-client.ts'
import { durableObjectIndex } from './adapters/durable-object/index-set.ts'
import { durableObjectState } from './adapters/durable-object/state.ts'
import type { StateShard } from './adapters/durable-object/state-shard.ts'
import { dynamodbIndex } from './adapters/dynamodb/index-set.ts'
import { dynamodbState } from './adapters/dynamodb/state.ts'
import { tableProblem } from './adapters/dynamodb/table-problem.ts'
import { kmsSealer } from './adapters/kms/sealer.ts'
import { localSealer } from './adapters/local/sealer.ts'
import { objectRunners, objectTrigger, type RunnerNamespace, type Runners } from './adapters/object/runners.ts'
import type { SealedSecrets } from './adapters/sealed/sealed-secrets.ts'
import { sealedSecrets } from './adapters/sealed/secrets.ts'
import { ssmSecrets } from './adapters/ssm/secrets.ts'
import { type Audit, noAudit } from './audit/audit.ts'
import type { Policy } from './config/policy.ts'
import { DocumentError } from './config/problems.ts'
import { type Service, type ServiceVars, withVars } from './config/service.ts'
import { decodeBase64url } from './crypto/base64url.ts'
import type { Bytes } from './crypto/bytes.ts'
import { localDirectory } from './directory/local/local.ts'
import { limiter, type RateLimitBinding, unlimited } from './http/rate-limit.ts'
import type { Readiness, StoreCheck } from './issuer/health.ts'
import type { Issuer, Limits } from './issuer/issuer.ts'
import { createKeyring } from './keyring/keyring.ts'
import { guardStateSecret } from './keyring/state-secret.ts'
import { LOGOUT_TOKEN_LIFETIME } from './logout/logout-token.ts'
import { resumeEndings, type TellingParts } from './logout/telling.ts'
import type { Operations } from './ops/ops.ts'
import { longestToken } from './policy/lifetimes.ts'
import { cachedSecrets } from './ports/cached-secrets.ts'
import { PortError } from './ports/error.ts'
import type { Index } from './ports/index-set.ts'
import { type Module, tableName } from './ports/layout5.ts'
import type { Clock, Fetch, Random } from './ports/platform.ts'
import type { Sealer } from './ports/sealer.ts'
import type { Secrets } from './ports/secrets.ts'
import type { State } from './ports/state.ts'
import type { Trigger } from './ports/trigger.ts'
import type { WaysIn } from './signin/sign-in.ts'
import type { Log } from './telemetry/log.ts'
import { budgetOf } from './ticks/budget.ts'
import { isStale, parseJournal } from './ticks/journal.ts'
import { oneAtATime } from './ticks/one-at-a-time.ts'
import { type Tick, ticksFor } from './ticks/tick.ts'

/** The bindings, variables and secrets of wrangler.toml and `.dev.vars`. */
export interface Env extends ServiceVars, AwsVars {
  STATE_SHARD: DurableObjectNamespace<StateShard>
  SEALED_SECRETS: DurableObjectNamespace<SealedSecrets>
  RUNNER: RunnerNamespace
  ASSETS: Fetcher
  SEAL_KEY?: string
  SEAL_KEY_PREVIOUS?: string
  OPS_KEY?: string
  TOKEN?: RateLimitBinding
  USER_CODE?: RateLimitBinding
  SIGN_IN?: RateLimitBinding
  DEVICE_POLL?: RateLimitBinding
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
  audit?: Audit
}

export interface Documents {
  service: Service
  policy: Policy
}

/** The stores of module oidc, and the sealer of its keys. */
export interface Adapters {
  state: State
  index: Index
  secrets: Secrets
  sealer: Sealer
  /** What `/readyz` looks at beside what every flow uses. */
  stores?: readonly StoreCheck[]
}

/** Everything the routes work with. One an isolate. */
export interface Services {
  /** Without a request of its own yet. */
  issuer: Issuer
  service: Service
  /** The version of the service, as package.json has it. */
  version: string
  ways: WaysIn
  operations: Operations
  readiness: Readiness
  /** Calls that one invocation makes at most, of stores and of others. */
  subrequests: number
  /** What telling clients works with beside the calls it may make. */
  telling: Omit<TellingParts, 'calls'>
  /** What comes up again and again, each on its target. */
  ticks: readonly Tick[]
  /** Has a target run at once, and not in its minute. */
  trigger: Trigger
}

/**
 * Documents, bindings and platform, made into services. The one place that picks adapters.
 *
 * @throws PortError Unavailable: a variable or a Worker secret is missing or malformed. The message names it, in words for the log
 */
export function compose(env: Env, documents: Documents, platform: Platform): Services & { runners: Runners } {
  const service = serviceOf(documents.service, env)
  checkRole(env.ROLE)
  const audit = service.audit === 'log' ? (platform.audit ?? noAudit) : noAudit
  const services = composeOn(
    service.preset === 'aws' ? onAws(env, service, platform) : embedded(env, service, platform),
    { service, policy: documents.policy },
    { ...platform, audit, opsKey: opsKey(env.OPS_KEY), limits: limits(env, platform.log) },
  )
  const { instance, location } = service
  const runners = objectRunners({ namespace: env.RUNNER, instance, locationHint: location?.hint })
  const trigger = objectTrigger(runners, (hint) => ticksFor(services.ticks, hint))
  const { readiness, operations, ticks } = services
  const stale = ticks.map((tick) => staleness(tick, runners, platform.clock))
  return {
    ...services,
    runners,
    trigger,
    operations: { ...operations, trigger },
    readiness: { ...readiness, stores: [...readiness.stores, ...stale] },
  }
}

/** As a PortError, whose message is logged: what a DocumentError says is not, and here it names a variable of the operator's. */
function serviceOf(document: Service, env: Env): Service {
  try {
    return withVars(document, env)
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    throw new PortError('Unavailable', error.message, { cause: error })
  }
}

/** The same on adapters somebody else picked: how tests run the whole service on `memory`. */
export function composeOn(
  adapters: Adapters,
  { service, policy }: Documents,
  platform: Platform & { opsKey?: Bytes | null; limits?: Limits },
): Services {
  const { clock, random, fetch, log, audit = noAudit, opsKey = null, limits = noLimits } = platform
  const { state, index, sealer } = adapters
  const secrets = cachedSecrets(adapters.secrets, clock)
  const { instance, issuer: url, keyring: settings, directory } = service
  const keyring = createKeyring({
    state,
    sealer,
    clock,
    instance,
    settings,
    longestToken: Math.max(longestToken(policy), LOGOUT_TOKEN_LIFETIME),
    log,
  })
  const site = { name: service.name, issuer: url }
  const subrequests = SUBREQUESTS[service.plan]
  const issuer: Issuer = {
    url,
    site,
    policy,
    state,
    index,
    secrets,
    keyring,
    directory: localDirectory(directory.people),
    limits,
    clock,
    random,
    audit,
    log,
    requestId: '',
    calls: budgetOf(subrequests),
    tell: () => {},
  }
  const telling = { state, keyring, policy, url, fetch, clock, random, log }
  const ticks: readonly Tick[] = [
    {
      kind: 'keyring',
      target: 'all',
      every: 5,
      state,
      async run({ check }) {
        await keyring.keySet()
        check()
        await keyring.rotate(check)
        check()
        await keyring.renew()
        return 'ran'
      },
    },
    {
      kind: 'logout',
      target: 'all',
      every: 1,
      state,
      run: async ({ check, budget }) =>
        (await resumeEndings({ ...issuer, ...telling, calls: budget }, check)) === 'more' ? 'more' : 'ran',
    },
  ]
  return {
    issuer,
    service,
    version: packageJson.version,
    ways: { picker: service.signin.picker ? directory.people : null },
    operations: { instance, key: opsKey, state, secrets, clock, ticks, trigger: noTrigger },
    readiness: {
      guard: () => guardStateSecret({ secrets, state, random, create: service.preset === 'embedded' }),
      stores: adapters.stores ?? [],
    },
    subrequests,
    telling,
    trigger: noTrigger,
    ticks,
  }
}

/** A tick that has not gone well for a while: its work waits, and nobody is refused for it. */
function staleness({ kind, target, every }: Tick, runners: Runners, clock: Clock): StoreCheck {
  return {
    name: `tick ${kind}:${target}`,
    async concern() {
      const journal = parseJournal(await runners.status({ kind, target }))
      if (!isStale(journal, every, clock.now())) return null
      const last = journal?.good ?? null
      const when = last === null ? 'has not run yet' : `last went well at ${new Date(last.finishedAt).toISOString()}`
      return `it is due every ${every} min and ${when}: is the cron running? What failed is in the log, tick.failed`
    },
  }
}

/** Nobody is there to run anything before its minute. */
const noTrigger: Trigger = { notify: async () => {} }

/** Of the 50 and the 1,000 that Cloudflare allows: what is counted here is the larger part of them, and never all. */
const SUBREQUESTS = { free: 40, paid: 800 }

function embedded(env: Env, { instance, location }: Service, { clock, random }: Platform): Adapters {
  const placed = { instance, clock, random, locationHint: location?.hint }
  const sealer = localSealer({ sealKey: env.SEAL_KEY, previous: env.SEAL_KEY_PREVIOUS, random })
  return {
    state: durableObjectState({ ...placed, namespace: env.STATE_SHARD, module: 'oidc' }),
    index: durableObjectIndex({ ...placed, namespace: env.STATE_SHARD, module: 'oidc' }),
    secrets: sealedSecrets({ ...placed, namespace: env.SEALED_SECRETS, sealer }),
    sealer,
  }
}

/**
 * DynamoDB, SSM and KMS, near the tables and with the credentials of module oidc.
 *
 * @throws PortError Unavailable: the credentials are not there
 */
function onAws(env: Env, { instance, aws }: Service, { clock, random, fetch }: Platform): Adapters {
  const { region = '', key = `alias/sluis-${instance}`, parameter_key } = aws
  const { credentials, shared } = credentialsOf('oidc', env)
  const client = (service: Exclude<AwsService, 's3'>) => {
    const endpoint = env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? env.AWS_ENDPOINT_URL
    return jsonClient({ service, region, credentials, endpoint, fetch, clock, random })
  }
  const dynamodb = client('dynamodb')
  const state = dynamodbState({ client: dynamodb, instance, module: 'oidc', clock, random })
  const table = tableName(instance, 'oidc')
  return {
    state,
    index: dynamodbIndex({ client: dynamodb, instance, module: 'oidc', clock, random }),
    // Shorter than a lease of a tick: a write that died should not hold back the next for two minutes.
    secrets: ssmSecrets({
      client: client('ssm'),
      instance,
      keyId: parameter_key,
      exclusively: oneAtATime({ state, clock, random, ttl: 60 }, 'secret'),
    }),
    sealer: kmsSealer({ client: client('kms'), keyId: key }),
    stores: [
      { name: `table ${table}`, problem: () => tableProblem(dynamodb, table) },
      ...(shared
        ? [
            {
              name: 'credentials',
              concern: async () => 'AWS_OIDC_ACCESS_KEY_ID is not set: module oidc uses the credentials without a module',
            },
          ]
        : []),
    ],
  }
}

/** The credentials of one module; `shared` when they are those without its name, which whoever runs several modules should not have. */
function credentialsOf(module: Module, env: AwsVars): { credentials: AwsCredentials; shared: boolean } {
  const prefix = `AWS_${module.toUpperCase()}` as const
  const shared = (env[`${prefix}_ACCESS_KEY_ID`] ?? '') === ''
  const from = shared ? ('AWS' as const) : prefix
  const [accessKeyId = '', secretAccessKey = ''] = [env[`${from}_ACCESS_KEY_ID`], env[`${from}_SECRET_ACCESS_KEY`]]
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new PortError('Unavailable', `preset aws needs the secrets ${prefix}_ACCESS_KEY_ID and ${prefix}_SECRET_ACCESS_KEY`)
  }
  return { credentials: { accessKeyId, secretAccessKey, sessionToken: env[`${from}_SESSION_TOKEN`] || undefined }, shared }
}

/** The rooms this version has. A role that is another Worker's opens none of theirs. */
function checkRole(role = 'all'): void {
  if (role === 'all' || role === 'issuer') return
  const message = roles.includes(role) ? `ROLE ${role} has no rooms in this version` : `ROLE is ${roles.join(', ')}`
  throw new PortError('Unavailable', message)
}

const roles = ['all', 'issuer', 'controllers', 'backup']

/** s: what each binding of wrangler.toml counts over */
function limits({ TOKEN, USER_CODE, SIGN_IN, DEVICE_POLL }: Env, log: Log): Limits {
  return {
    token: limiter('TOKEN', TOKEN, 60, log),
    userCode: limiter('USER_CODE', USER_CODE, 60, log),
    signIn: limiter('SIGN_IN', SIGN_IN, 60, log),
    devicePoll: limiter('DEVICE_POLL', DEVICE_POLL, 10, log),
  }
}

const noLimits: Limits = { token: unlimited, userCode: unlimited, signIn: unlimited, devicePoll: unlimited }

const OPS_KEY_LENGTH = 32 // bytes

function opsKey(text: string | undefined): Bytes | null {
  if (text === undefined || text === '') return null
  const key = decodeBase64url(text)
  if (key?.length !== OPS_KEY_LENGTH) throw new PortError('Unavailable', `OPS_KEY must be base64url of ${OPS_KEY_LENGTH} random bytes`)
  return key
}
