import type { Documents } from '../src/config/documents.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run state-secret -- status|accept [options]
Whether the running issuer has the state secret it was started with; accept makes the present one the instance's.
With another secret the issuer answers 503 to all but discovery, keys and health. Put the earlier one back if you have it: what was derived
from it is lost with it. Password and recovery sign-ins under way fail and are begun again, and an address nobody has is answered
differently than before. Sessions, tokens, signing keys and client secrets do not depend on it, and stay.
${TARGET_USAGE}`

const MEANING: Readonly<Record<string, string>> = {
  same: 'it is the one the instance was started with; there is nothing to accept',
  foreign: 'another implementation wrote its fingerprint, which is left alone; nothing is refused',
}

if (import.meta.main) await runAsProcess(async () => console.log(await stateSecret(process.argv.slice(2))))

/** @returns what was found and done, in words. @throws CommandError */
export async function stateSecret(
  args: readonly string[],
  documents: () => Promise<Documents> = async () => (await build()).documents,
  ask: typeof callOps = callOps,
): Promise<string> {
  const { action, issuer, vars } = readOptions(args)
  try {
    const target = await opsTarget({ issuer, vars }, await documents())
    const { found, accepted, reason } = await ask(target, { command: `state-secret.${action}` })
    if (accepted === true)
      return `${target.issuer} takes its present state secret for its own from now on, in every isolate within a minute`
    if (found === 'unreadable') throw new CommandError(`unreadable: ${reason}`)
    return found === 'changed'
      ? `changed: ${target.issuer} does not serve`
      : `${found}: ${MEANING[String(found)] ?? 'not an answer we know'}`
  } catch (error) {
    throw forPeople(error)
  }
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(args, targetOptions, USAGE)
  const [action, ...rest] = positionals
  if ((action !== 'status' && action !== 'accept') || rest.length > 0) throw new CommandError(USAGE)
  return { action, issuer: values.issuer, vars: values.vars } as const
}
