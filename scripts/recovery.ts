import { parseArgs } from 'node:util'
import { CommandError, HelpWanted, runAsProcess } from './aws/command.ts'
import { BuildError, build } from './build.ts'
import { callOps, OpsError } from './ops-client.ts'
import { opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

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
    if (error instanceof OpsError || error instanceof BuildError) throw new CommandError(error.message)
    throw error
  }
}

function readOptions(args: readonly string[]) {
  try {
    const options = { ...targetOptions, help: { type: 'boolean', short: 'h', default: false } } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    if (values.help) throw new HelpWanted(USAGE)
    const [action, ...rest] = positionals
    if ((action !== 'off' && action !== 'status') || rest.length > 0) throw new CommandError(USAGE)
    return { action, issuer: values.issuer, vars: values.vars } as const
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}
