import packageJson from '../package.json' with { type: 'json' }
import { objectRunners, objectTrigger, type Runners } from './adapters/object/runners.ts'
import { type Audit, type AuditOptions, type AuditSink, lineSink, openAudit } from './audit/audit.ts'
import { blobSink } from './audit/blob-sink.ts'
import { type Adapters, adaptersOf } from './compose/adapters.ts'
import { checkRole, type Env, googleEndpoints, opsKey, type Platform } from './compose/env.ts'
import { composeGoogle } from './compose/google.ts'
import { limits, noLimits } from './compose/limits.ts'
import { maintainedSeals, sealsCheck } from './compose/seals.ts'
import { familyStaleness, logStale, staleness } from './compose/staleness.ts'
import type { Policy } from './config/policy.ts'
import { DocumentError } from './config/problems.ts'
import { type Service, withVars } from './config/service.ts'
import type { Bytes } from './crypto/bytes.ts'
import { withAccounts } from './directory/accounts.ts'
import type { Endpoints } from './directory/google/endpoints.ts'
import { heldDirectory } from './directory/held.ts'
import { localDirectory } from './directory/local/local.ts'
import { DIRECTORY_ACR, RECOVERY_ACR } from './issuer/acr.ts'
import { createClientSecrets } from './issuer/client-secrets.ts'
import type { Readiness } from './issuer/health.ts'
import type { Issuer, Limits } from './issuer/issuer.ts'
import { createKeyring } from './keyring/keyring.ts'
import { acceptStateSecret, stateSecret as stateSecretOf } from './keyring/state-secret.ts'
import { type StateSecretGate, stateSecretGate } from './keyring/state-secret-gate.ts'
import { LOGOUT_TOKEN_LIFETIME } from './logout/logout-token.ts'
import { resumeEndings, type TellingParts } from './logout/telling.ts'
import type { Operations } from './ops/ops.ts'
import { heldGroupsOf } from './policy/held-groups.ts'
import { longestToken } from './policy/lifetimes.ts'
import type { Blob } from './ports/blob.ts'
import { cachedSecrets } from './ports/cached-secrets.ts'
import { PortError } from './ports/error.ts'
import { maintainedIndex, maintainedSecrets, maintainedState, maintenanceGate } from './ports/maintenance.ts'
import type { Sealer } from './ports/sealer.ts'
import type { Trigger } from './ports/trigger.ts'
import { hasEndings } from './records/ending.ts'
import { type RecoverySwitch, recoverySwitch } from './records/recovery-off.ts'
import type { PasswordWay, WaysIn } from './signin/sign-in.ts'
import { upstreamProviders } from './signin/upstream/providers.ts'
import { analyticsMeter } from './telemetry/analytics.ts'
import { countAudited } from './telemetry/audited.ts'
import { measuredBlob, measuredSealer, measuredSecrets, measuredState, portCalls } from './telemetry/measured-ports.ts'
import { type Meter, noMeter } from './telemetry/metrics.ts'
import { budgetOf } from './ticks/budget.ts'
import { type Tick, type Ticks, ticksFor } from './ticks/tick.ts'

export type { Adapters } from './compose/adapters.ts'
export type { Env } from './compose/env.ts'

export interface Documents {
  service: Service
  policy: Policy
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
  audit: readonly AuditSink[]
  /** What an audit is opened with, beside the request's id. What no request is named in is the issuer's own, and goes with the next flush. */
  auditing: Pick<AuditOptions, 'clock' | 'log' | 'observe'>
  meter: Meter
  /** What telling clients works with beside the calls it may make. */
  telling: Omit<TellingParts, 'calls'>
  stateSecret: StateSecretGate
  /** What comes up again and again, each on its target. */
  ticks: Ticks
  /** Reports of ticks, and audit events. */
  blob: Blob
  /** Has a target run at once, and not in its minute. */
  trigger: Trigger
}

/**
 * Documents, bindings and platform, made into services. The one place that picks adapters.
 *
 * @throws PortError Unavailable: a variable or a Worker secret is missing or malformed. The message names it, in words for the log
 */
export function compose(
  env: Env,
  documents: Documents,
  platform: Platform & { write(line: string): void },
): Services & { runners: Runners; sayStale(scheduled: number): Promise<void> } {
  const service = serviceOf(documents.service, env)
  checkRole(env, service)
  const adapters = adaptersOf(env, service, platform)
  const services = composeOn(
    adapters,
    { service, policy: documents.policy },
    {
      ...platform,
      audit: service.audit.map((kind) => auditSink(kind, adapters, platform)),
      meter: env.METRICS === undefined ? noMeter : analyticsMeter(env.METRICS),
      opsKey: opsKey(env.OPS_KEY),
      endpoints: googleEndpoints(env, service),
      limits: limits(env, platform.log),
    },
  )
  const { instance, location } = service
  const runners = objectRunners({ namespace: env.RUNNER, instance, locationHint: location?.hint })
  const trigger = objectTrigger(runners, (hint) => ticksFor(services.ticks, hint))
  const { readiness, operations, ticks } = services
  const stale = [
    ...ticks.fixed.map((tick) => staleness(tick, runners, platform.clock)),
    ...ticks.families.map((family) => familyStaleness(family, runners, platform.clock)),
  ]
  return {
    ...services,
    runners,
    sayStale: (scheduled) => logStale(scheduled, services.ticks, { ...platform, runners }),
    trigger,
    operations: { ...operations, trigger, workspaces: operations.workspaces && { ...operations.workspaces, trigger } },
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

function auditSink(
  kind: Service['audit'][number],
  { blob }: Adapters,
  { write, clock, random }: Platform & { write(line: string): void },
): AuditSink {
  return kind === 'log' ? lineSink(write) : blobSink({ blob, module: 'oidc', clock, random })
}

/** The same on adapters somebody else picked: how tests run the whole service on `memory`. */
export function composeOn(
  adapters: Adapters,
  { service, policy }: Documents,
  platform: Platform & { audit?: readonly AuditSink[]; meter?: Meter; opsKey?: Bytes | null; limits?: Limits; endpoints?: Endpoints },
): Services {
  const { clock, random, fetch, log, audit = [], meter = noMeter, opsKey = null, limits = noLimits, endpoints } = platform
  const calls = portCalls(clock, meter)
  const sealer = measuredSealer(adapters.sealer, calls)
  const blob = measuredBlob(adapters.blob, calls)
  const gate = maintenanceGate(adapters.state, 'oidc', clock)
  const state = maintainedState(adapters.state, gate)
  const index = maintainedIndex(adapters.index, gate)
  const secrets = maintainedSecrets(cachedSecrets(measuredSecrets(adapters.secrets, calls), clock), gate)
  // A request measures its own calls; these are of what outlives it.
  const measured = measuredState(state, calls)
  const auditing = { clock, log, observe: countAudited(meter) }
  const ownAudit = openAudit(audit, auditing)
  const { instance, issuer: url, keyring: settings, directory } = service
  const keyring = createKeyring({
    state: measured,
    sealer,
    clock,
    instance,
    settings,
    longestToken: Math.max(longestToken(policy), LOGOUT_TOKEN_LIFETIME),
    audit: ownAudit,
    log,
  })
  const generation = service.recovery?.generation
  const recovery = generation === undefined ? null : recoverySwitch({ state, generation, clock, log })
  const google = adapters.google === undefined ? null : composeGoogle(adapters.google, platform, endpoints)
  const company =
    google === null
      ? localDirectory(directory.people)
      : heldDirectory(google.directory, { state: measured, clock, window: policy.lifetimes.hold, log })
  const site = { name: service.name, issuer: url }
  const subrequests = SUBREQUESTS[service.plan]
  const issuer: Issuer = {
    url,
    site,
    policy,
    heldGroups: heldGroupsOf(policy),
    state,
    index,
    secrets,
    clientSecrets: createClientSecrets({ policy, secrets, clock, random }),
    keyring,
    directory: withAccounts(company, { recovery, conformance: service.signin.conformance }),
    acrValues: recovery === null ? [DIRECTORY_ACR] : [DIRECTORY_ACR, RECOVERY_ACR],
    limits,
    clock,
    random,
    audit: ownAudit,
    metrics: meter,
    log,
    requestId: '',
    calls: budgetOf(subrequests),
    tell: () => {},
  }
  const telling = { state: measured, keyring, policy, url, fetch, clock, random, log, metrics: meter }
  const secretParts = { secrets, state: measured, random, create: service.preset === 'embedded' }
  const stateSecret = stateSecretGate({ ...secretParts, clock, log })
  const { resealable } = adapters
  const ofOidc = { module: 'oidc', state: measured, paused: gate.isSet } as const
  const work: readonly Tick[] = [
    {
      kind: 'keyring',
      target: 'all',
      every: 5,
      ...ofOidc,
      idle: () => keyring.isAtRest(adapters.state),
      async run({ check, report }) {
        await keyring.keySet()
        check()
        await keyring.rotate(check)
        check()
        await keyring.renew()
        const { keys } = await keyring.keySet()
        report({ published: keys.map(({ alg, kid }) => ({ alg, kid })) })
        return 'ran'
      },
    },
    {
      kind: 'logout',
      target: 'all',
      every: 1,
      ...ofOidc,
      idle: async () => !(await hasEndings(adapters.state)),
      run: async ({ check, budget }) =>
        (await resumeEndings({ ...issuer, ...telling, calls: budget }, check)) === 'more' ? 'more' : 'ran',
    },
  ]
  const ticks = auditedTicks({ fixed: [...work, ...(google?.ticks.fixed ?? [])], families: google?.ticks.families ?? [] }, issuer.audit)
  meter.know(
    'kind',
    [...ticks.fixed, ...ticks.families].map(({ kind }) => kind),
  )
  meter.know('how', ['picker', 'recovery', 'conformance', ...Object.keys(service.signin.providers)])
  return {
    issuer,
    audit,
    auditing,
    meter,
    service,
    version: packageJson.version,
    ways: {
      picker: service.signin.picker ? directory.people : null,
      upstream: upstreamProviders(service.signin.providers, { fetch, stateSecret: () => stateSecretOf(secretParts) }),
      password: passwordWay(service, { sealer, recovery, stateSecret: () => stateSecretOf(secretParts) }),
    },
    // Its own State: what lifts the flag is not held up by it.
    operations: {
      ...{ instance, key: opsKey, state: adapters.state, secrets, clock, ticks, trigger: noTrigger, log },
      ...{ policy, random, audit: issuer.audit },
      maintenance: adapters.restore ?? null,
      workspaces: google === null ? null : { ...google.workspaces, trigger: noTrigger },
      recoveryGeneration: generation ?? null,
      keyring,
      sealedSecrets: resealable === undefined ? null : maintainedSeals(resealable, gate),
      // By the store itself: what an isolate keeps of a secret may be a minute old.
      stateSecret: { guard: stateSecret.guard, accept: () => acceptStateSecret({ ...secretParts, secrets: adapters.secrets }) },
    },
    readiness: {
      guard: stateSecret.guard,
      stores: [
        ...(adapters.stores ?? []),
        { name: 'maintenance', concern: async () => ((await gate.isSet().catch(() => false)) ? UNDER_MAINTENANCE : null) },
        sealsCheck(keyring, resealable),
      ],
    },
    blob,
    subrequests,
    telling,
    stateSecret,
    trigger: noTrigger,
    ticks,
  }
}

/** null where the service document has neither account. */
function passwordWay(
  { instance, signin }: Service,
  { sealer, recovery, stateSecret }: { sealer: Sealer; recovery: RecoverySwitch | null; stateSecret: () => Promise<Bytes> },
): PasswordWay | null {
  const accounts = [...(recovery === null ? [] : (['recovery'] as const)), ...(signin.conformance ? (['conformance'] as const) : [])]
  const isRecoveryOff = async () => recovery === null || (await recovery.isOff())
  return accounts.length === 0 ? null : { accounts, sealer, instance, stateSecret, isRecoveryOff }
}

function auditedTicks({ fixed, families }: Ticks, audit: Audit): Ticks {
  return {
    fixed: fixed.map((tick) => audited(tick, audit)),
    families: families.map((family) => ({
      ...family,
      of: (target) => audited(family.of(target), audit),
      all: async () => (await family.all()).map((tick) => audited(tick, audit)),
    })),
  }
}

/** Whatever comes of a run, what it has audited is written with it. */
function audited(tick: Tick, audit: Audit): Tick {
  return {
    ...tick,
    async run(slice) {
      try {
        return await tick.run(slice)
      } finally {
        await audit.flush()
      }
    },
  }
}

const UNDER_MAINTENANCE = 'module oidc writes nothing until `npm run maintenance -- off` lifts the flag'

/** Nobody is there to run anything before its minute. */
const noTrigger: Trigger = { notify: async () => {} }

/** Of the 50 and the 1,000 that Cloudflare allows: what is counted here is the larger part of them, and never all. */
const SUBREQUESTS = { free: 40, paid: 800 }
