import { randomBytes } from 'node:crypto'
import { jsonClient } from '../../src/adapters/aws/json-client.ts'
import { ssmSecrets } from '../../src/adapters/ssm/secrets.ts'
import type { Service } from '../../src/config/service.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { secretAddress } from '../../src/ports/keys.ts'
import { type Module, tableName } from '../../src/ports/layout5.ts'
import { type AwsEmulator, startAwsEmulator } from '../../test/aws-emulator/emulator.ts'
import type { DevVars } from '../dev-vars.ts'
import { makeVerifier } from '../verifier.ts'
import type { DeliveredSecret } from './client-secrets.ts'

/** AWS on this computer, for one instance: gone when it stops. */
export interface LocalAws {
  emulator: AwsEmulator
  /** What the Worker is told of it. */
  variables: Record<string, string>
  /** Of the account that was made with it; null where the service document has none. */
  recoveryPassword: string | null
}

const REGION = 'eu-west-1'

/** Starts the emulator with what an operator makes in an AWS account: the table, the key, the state secret and the clients' secrets. */
export async function startLocalAws(
  { instance, recovery, directory }: Pick<Service, 'instance' | 'recovery' | 'directory'>,
  secrets: readonly DeliveredSecret[],
  vars: DevVars,
): Promise<LocalAws> {
  const modules: readonly Module[] = directory.kind === 'google' ? ['oidc', 'google'] : ['oidc']
  const credentials = { accessKeyId: 'AKIALOCAL', secretAccessKey: randomBytes(24).toString('base64url') }
  const emulator = await startAwsEmulator({
    region: REGION,
    credentials: [credentials],
    tables: modules.map((module) => tableName(instance, module)),
    buckets: [`sluis-${instance}`],
    keyAliases: [`alias/sluis-${instance}`],
  })
  const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
  const clock = { now: () => Date.now() }
  const client = jsonClient({ service: 'ssm', region: REGION, credentials, endpoint: emulator.url, fetch, clock, random })
  const parameters = ssmSecrets({ client, instance })
  await parameters.putIfVersion('internal/oidc/state-secret', utf8(randomBytes(32).toString('base64')), null)
  for (const { path, variable } of secrets) await parameters.putIfVersion(path, utf8(vars.get(variable) ?? ''), null)
  const variables = {
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL: emulator.url,
    ...Object.fromEntries(modules.flatMap((module) => keysOf(module, credentials))),
  }
  const account = recovery === undefined ? null : await makeVerifier()
  if (account !== null) await parameters.putIfVersion(secretAddress.recoveryVerifier, account.document, null)
  return { emulator, variables, recoveryPassword: account?.password ?? null }
}

function keysOf(module: Module, { accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string }): [string, string][] {
  const prefix = `AWS_${module.toUpperCase()}`
  return [
    [`${prefix}_ACCESS_KEY_ID`, accessKeyId],
    [`${prefix}_SECRET_ACCESS_KEY`, secretAccessKey],
  ]
}
