import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run tick -- <kind> <target> [options]
Has the running issuer do the scheduled work of one target now: keyring all, logout all, refresh-probe all, refresh <Workspace>. What comes of
it is in its log and at /readyz.
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
    throw forPeople(error)
  }
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(args, targetOptions, USAGE)
  const [kind, target, ...rest] = positionals
  if (kind === undefined || target === undefined || rest.length > 0) throw new CommandError(USAGE)
  return { kind, target, issuer: values.issuer, vars: values.vars }
}
