import { randomBytes } from 'node:crypto'
import type { AwsCredentials } from '../../src/adapters/aws/aws.ts'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { ssmSecrets } from '../../src/adapters/ssm/secrets.ts'
import { equalBytes } from '../../src/crypto/equal.ts'
import { isPortError } from '../../src/ports/error.ts'
import { secretAddress } from '../../src/ports/keys.ts'
import type { Bytes } from '../../src/ports/platform.ts'
import type { Secrets } from '../../src/ports/secrets.ts'
import { oneAtATime } from '../../src/ticks/one-at-a-time.ts'
import { CommandError, checkEndpoint } from './command.ts'

/** Where an instance's parameters are. */
export interface ParameterStore {
  instance: string
  region: string
  /** `alias/...` of the key they are encrypted under; absent: the account's own for SSM. */
  keyId?: string | undefined
}

/**
 * The secrets of an instance in SSM, through the adapter the issuer reads them by, with the credentials of the environment. One that is
 * replaced is so under the lease that the issuer takes too, in the table of module oidc. Opening asks nothing.
 *
 * @throws CommandError no credentials, an endpoint that is none
 */
export function openParameters({ instance, region, keyId }: ParameterStore, environment: NodeJS.ProcessEnv): Secrets {
  const credentials = credentialsOf(environment)
  const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
  const clock = { now: () => Date.now() }
  const client = (service: 'ssm' | 'dynamodb') => {
    const endpoint = environment[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? environment.AWS_ENDPOINT_URL
    const asked = endpoint === undefined ? undefined : checkEndpoint(endpoint)
    return jsonClient({ service, region, credentials, endpoint: asked, fetch, clock, random })
  }
  const state = dynamodbState({ client: client('dynamodb'), instance, module: 'oidc', clock, random })
  return ssmSecrets({ client: client('ssm'), instance, keyId, exclusively: oneAtATime({ state, clock, random }, 'secret') })
}

/** Puts a secret, unless it is there already: the same once more would push the one before it out of reach, which clients may still present. */
export async function putUnlessSame(secrets: Secrets, path: string, value: Bytes): Promise<{ written: boolean; version: string }> {
  const standing = await secrets.get(path).catch((error: unknown) => {
    if (isPortError(error, 'NotFound')) return null
    throw error
  })
  if (standing !== null && equalBytes(standing.value, value)) return { written: false, version: standing.version }
  return { written: true, version: await secrets.put(path, value) }
}

const STATE_SECRET_LENGTH = 32 // bytes (seed: storage-layout, SSM)

/** Draws the state secret where there is none. Whether it did. One that stands is never replaced: what was derived from it would be lost. */
export async function makeStateSecret(secrets: Secrets): Promise<boolean> {
  try {
    const drawn = randomBytes(STATE_SECRET_LENGTH).toString('base64')
    await secrets.putIfVersion(secretAddress.stateSecret, new Uint8Array(Buffer.from(drawn)), null)
    return true
  } catch (error) {
    if (isPortError(error, 'Conflict')) return false
    throw error
  }
}

export function credentialsOf({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN }: NodeJS.ProcessEnv): AwsCredentials {
  if (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY)
    return { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY, sessionToken: AWS_SESSION_TOKEN || undefined }
  const missing = AWS_ACCESS_KEY_ID ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID'
  throw new CommandError(
    `${missing} is not in the environment. With a profile: eval "$(aws configure export-credentials --profile <name> --format env)"`,
  )
}
