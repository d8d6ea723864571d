import { readFile } from 'node:fs/promises'
import { CommandError } from './aws/command.ts'
import { parseDevVars } from './dev-vars.ts'

/** What operator calls are signed with: OPS_KEY of the environment, else of a `.dev.vars` file. @throws CommandError there is none */
export async function readOpsKey(file: string): Promise<string> {
  const key = process.env.OPS_KEY ?? parseDevVars(await readFile(file, 'utf8').catch(() => '')).get('OPS_KEY')
  if (key === undefined) throw new CommandError(`there is no OPS_KEY, in the environment or in ${file}`)
  return key
}
