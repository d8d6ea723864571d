import type { AwsCredentials, AwsService } from '../adapters/aws/aws.ts'
import { jsonClient } from '../adapters/aws/json-client.ts'
import { s3Client } from '../adapters/aws/s3-client.ts'
import { durableObjectIndex } from '../adapters/durable-object/index-set.ts'
import { durableObjectState } from '../adapters/durable-object/state.ts'
import { dynamodbIndex } from '../adapters/dynamodb/index-set.ts'
import { dynamodbState } from '../adapters/dynamodb/state.ts'
import { tableProblem } from '../adapters/dynamodb/table-problem.ts'
import { kmsSealer } from '../adapters/kms/sealer.ts'
import { localSealer } from '../adapters/local/sealer.ts'
import { r2Blob } from '../adapters/r2/blob.ts'
import { s3Blob } from '../adapters/s3/blob.ts'
import { sealedSecrets } from '../adapters/sealed/secrets.ts'
import { ssmSecrets } from '../adapters/ssm/secrets.ts'
import type { Service } from '../config/service.ts'
import type { StoreCheck } from '../issuer/health.ts'
import type { Blob } from '../ports/blob.ts'
import { PortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import { type Module, tableName } from '../ports/layout5.ts'
import type { Resealable, Sealer } from '../ports/sealer.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { State } from '../ports/state.ts'
import { oneAtATime } from '../ticks/one-at-a-time.ts'
import type { AwsVars, Env, Platform } from './env.ts'

/** The stores of module oidc, and the sealer of its keys. */
export interface Adapters {
  state: State
  index: Index
  secrets: Secrets
  sealer: Sealer
  /** The secrets, where the adapter seals them itself. */
  resealable?: Resealable
  blob: Blob
  /** The stores of module google, whose Workspaces are the directory; absent: another directory. */
  google?: ModuleStores
  /** A module's State that may write the maintenance flag, for the operator's command alone. Absent: another role sets it. */
  restore?: (module: Module) => State
  /** What `/readyz` looks at beside what every flow uses. */
  stores?: readonly StoreCheck[]
}

/** What a module beside oidc keeps its records, secrets and objects in. */
export interface ModuleStores {
  state: State
  secrets: Secrets
  blob: Blob
}

/** The stores of a preset. @throws PortError Unavailable: a variable or a Worker secret is missing or malformed */
export function adaptersOf(env: Env, service: Service, platform: Platform): Adapters {
  return service.preset === 'aws' ? onAws(env, service, platform) : embedded(env, service, platform)
}

function embedded(env: Env, { instance, location, directory }: Service, { clock, random }: Platform): Adapters {
  const placed = { instance, clock, random, locationHint: location?.hint }
  const sealer = localSealer({ sealKey: env.SEAL_KEY, previous: env.SEAL_KEY_PREVIOUS, random })
  const secrets = sealedSecrets({ ...placed, namespace: env.SEALED_SECRETS, sealer })
  const blob = r2Blob({ bucket: env.BLOBS })
  const stateOf = (module: Module, restore = false) => durableObjectState({ ...placed, namespace: env.STATE_SHARD, module, restore })
  return {
    state: stateOf('oidc'),
    index: durableObjectIndex({ ...placed, namespace: env.STATE_SHARD, module: 'oidc' }),
    secrets,
    resealable: secrets,
    sealer,
    blob,
    ...(directory.kind === 'google' ? { google: { state: stateOf('google'), secrets, blob } } : {}),
    restore: (module) => stateOf(module, true),
  }
}

/**
 * DynamoDB, SSM, KMS and S3, near the tables, each module with credentials of its own.
 *
 * @throws PortError Unavailable: the credentials are not there
 */
function onAws(env: Env, service: Service, platform: Platform): Adapters {
  const { instance, aws, directory } = service
  const { clock, random } = platform
  const oidc = moduleOnAws('oidc', env, service, platform)
  const google = directory.kind === 'google' ? moduleOnAws('google', env, service, platform) : null
  return {
    ...oidc.stores,
    index: dynamodbIndex({ client: oidc.client('dynamodb'), instance, module: 'oidc', clock, random }),
    sealer: kmsSealer({ client: oidc.client('kms'), keyId: aws.key ?? `alias/sluis-${instance}` }),
    ...(google === null ? {} : { google: google.stores }),
    stores: [...oidc.checks, ...(google?.checks ?? [])],
  }
}

function moduleOnAws(module: Module, env: Env, { instance, aws }: Service, { clock, random, fetch }: Platform) {
  const { region = '', parameter_key, bucket = `sluis-${instance}`, bucket_key } = aws
  const { credentials, shared } = credentialsOf(module, env)
  const reached = (service: AwsService) => {
    const endpoint = env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? env.AWS_ENDPOINT_URL
    return { region, credentials, endpoint, fetch, clock, random }
  }
  const client = (service: Exclude<AwsService, 's3'>) => jsonClient({ service, ...reached(service) })
  const state = dynamodbState({ client: client('dynamodb'), instance, module, clock, random })
  // Shorter than a lease of a tick: a write that died should not hold back the next for two minutes.
  const exclusively = oneAtATime({ state, clock, random, ttl: 60 }, 'secret')
  const stores: ModuleStores = {
    state,
    secrets: ssmSecrets({ client: client('ssm'), instance, keyId: parameter_key, exclusively }),
    blob: s3Blob({ client: s3Client({ bucket, ...reached('s3') }), sseKmsKeyId: bucket_key }),
  }
  const table = tableName(instance, module)
  const variable = `AWS_${module.toUpperCase()}_ACCESS_KEY_ID`
  const checks: StoreCheck[] = [
    { name: `table ${table}`, problem: () => tableProblem(client('dynamodb'), table) },
    // Nobody is refused for it: reports and audit events wait, or are lost and said to be.
    { name: `bucket ${bucket}`, concern: () => stores.blob.list(`${module}/reports/`).then(() => null) },
    ...(shared
      ? [{ name: 'credentials', concern: async () => `${variable} is not set: module ${module} uses the credentials without a module` }]
      : []),
  ]
  return { stores, client, checks }
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
