import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Documents } from '../src/config/documents.ts'
import { PortError } from '../src/ports/error.ts'
import { CommandError } from './aws/command.ts'
import { BuildError, ROOT } from './build.ts'
import { parseDevVars } from './dev-vars.ts'
import { OpsError, type OpsTarget } from './ops-client.ts'

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

/** What kept a command from its work, as what is said of it; a fault of ours stays what it is. */
export function forPeople(error: unknown): unknown {
  const isForPeople = error instanceof OpsError || error instanceof BuildError || error instanceof PortError
  return isForPeople ? new CommandError(error.message, { cause: error }) : error
}

/** What operator calls are signed with: OPS_KEY of the environment, else of a `.dev.vars` file. @throws CommandError there is none */
async function readOpsKey(file: string): Promise<string> {
  const key = process.env.OPS_KEY ?? parseDevVars(await readFile(file, 'utf8').catch(() => '')).get('OPS_KEY')
  if (key === undefined) throw new CommandError(`there is no OPS_KEY, in the environment or in ${file}`)
  return key
}
