import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run recovery -- off|status [options]
Switches the recovery sign-in off, for the generation the running issuer was deployed with, and within 3 s. The only way back is a higher
recovery.generation in config/service.yaml, deployed.
${TARGET_USAGE}`

if (import.meta.main) await runAsProcess(async () => console.log(await recovery(process.argv.slice(2))))

/** @returns what the switch is now, in words. @throws CommandError */
export async function recovery(args: readonly string[]): Promise<string> {
  const { action, issuer, vars } = readOptions(args)
  try {
    const target = await opsTarget({ issuer, vars }, (await build()).documents)
    const { generation, off, changed } = await callOps(target, { command: `recovery.${action}` })
    if (off !== true) return `the recovery sign-in of ${target.issuer} is on (generation ${generation})`
    const already = changed === false ? ' already' : ''
    return `the recovery sign-in of ${target.issuer} is off${already} (generation ${generation}): a higher recovery.generation brings it back`
  } catch (error) {
    throw forPeople(error)
  }
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(args, targetOptions, USAGE)
  const [action, ...rest] = positionals
  if ((action !== 'off' && action !== 'status') || rest.length > 0) throw new CommandError(USAGE)
  return { action, issuer: values.issuer, vars: values.vars } as const
}
