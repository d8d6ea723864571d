import { parseArgs } from 'node:util'
import { CommandError, HelpWanted, runAsProcess } from './aws/command.ts'
import { BuildError, build } from './build.ts'
import { callOps, OpsError } from './ops-client.ts'
import { opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run tick -- <kind> <target> [options]
Has the running issuer do the scheduled work of one target now: keyring all, logout all. What comes of it is in its log and at /readyz.
${TARGET_USAGE}`

if (import.meta.main) await runAsProcess(async () => console.log(await tick(process.argv.slice(2))))

/** @returns what was done, in words. @throws CommandError */
export async function tick(args: readonly string[]): Promise<string> {
  const { kind, target, issuer, vars } = readOptions(args)
  try {
    const at = await opsTarget({ issuer, vars }, (await build()).documents)
    await callOps(at, { command: 'tick.run', kind, target })
    return `asked ${at.issuer} to run ${kind}:${target}`
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
    const [kind, target, ...rest] = positionals
    if (kind === undefined || target === undefined || rest.length > 0) throw new CommandError(USAGE)
    return { kind, target, issuer: values.issuer, vars: values.vars }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}
