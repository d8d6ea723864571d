import { join, resolve } from 'node:path'
import type { Documents } from '../src/config/documents.ts'
import { ROOT } from './build.ts'
import type { OpsTarget } from './ops-client.ts'
import { readOpsKey } from './ops-key.ts'

/** The options by which every command says which running issuer it asks. */
export const targetOptions = {
  issuer: { type: 'string' },
  vars: { type: 'string', default: join(ROOT, '.dev.vars') },
} as const

/** How they are described, as the last lines of a usage. */
export const TARGET_USAGE = `  --issuer URL   which (ISSUER in the environment, else that of config/service.yaml)
  --vars FILE    where OPS_KEY is read from, unless the environment has one (.dev.vars)`

/** The issuer that is meant. @throws CommandError there is no OPS_KEY */
export async function opsTarget(given: { issuer?: string | undefined; vars: string }, { service }: Documents): Promise<OpsTarget> {
  const issuer = (given.issuer ?? process.env.ISSUER ?? service.issuer).replace(/\/$/, '')
  return { issuer, instance: process.env.INSTANCE ?? service.instance, opsKey: await readOpsKey(resolve(given.vars)) }
}
