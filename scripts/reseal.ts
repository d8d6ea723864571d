import * as z from 'zod'
import type { Documents } from '../src/config/documents.ts'
import { type SigningAlg, signingAlg } from '../src/config/values.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run reseal -- [options]
Has the running issuer seal its signing keys, and on preset embedded its secrets, under the SEAL_KEY of now, where an earlier one sealed them.
Safe to stop, and to run again.
  --all          signing keys too whose seals do not say what made them, as those of KMS do not
  --replace ALG:KID   instead: gives a ring a new key for one that is lost. It signs at once; the lost one stays published for a while
${TARGET_USAGE}`

const report = z.object({ resealed: z.number(), left: z.number(), unopenable: z.array(z.string()) })
const answer = z.object({ keys: report.extend({ untold: z.number() }), secrets: report.nullable() })
const replaced = z.object({ kid: z.string().nullable() })

if (import.meta.main) {
  await runAsProcess(async () => {
    const { words, done } = await reseal(process.argv.slice(2))
    console.log(words)
    if (!done) process.exitCode = 1
  })
}

/** @returns what was done, in words, and whether nothing is left that an earlier key is needed for. @throws CommandError */
export async function reseal(
  args: readonly string[],
  documents: () => Promise<Documents> = async () => (await build()).documents,
  ask: typeof callOps = callOps,
): Promise<{ words: string; done: boolean }> {
  const { all, lost, issuer, vars } = readOptions(args)
  try {
    const target = await opsTarget({ issuer, vars }, await documents())
    if (lost === null) return said(answer.parse(await ask(target, { command: 'keyring.reseal', all })))
    const { kid } = replaced.parse(await ask(target, { command: 'keyring.replace', ...lost }))
    const words = kid === null ? 'somebody else made its successor just now' : `${lost.alg}:${kid} signs in place of ${lost.kid}`
    return { words, done: true }
  } catch (error) {
    if (error instanceof z.ZodError) throw new CommandError('the issuer answered otherwise than this version does: deploy it first')
    throw forPeople(error)
  }
}

function said({ keys, secrets }: z.output<typeof answer>): { words: string; done: boolean } {
  const { untold } = keys
  const lines = [
    line('signing keys', keys),
    ...(untold > 0 ? [`signing keys whose seals do not say what made them: ${untold}, left as they are (--all seals them anew)`] : []),
    secrets === null ? 'secrets: their store keeps them' : line('secrets', secrets),
    ...[...keys.unopenable, ...(secrets?.unopenable ?? [])].map((name) => `does not open, and is left as it is: ${name}`),
  ]
  const left = keys.left + keys.unopenable.length + (secrets?.left ?? 0) + (secrets?.unopenable.length ?? 0)
  lines.push(
    left > 0 ? 'not done: run it again; what does not open needs the key it was sealed under' : 'no seal of an earlier key is left',
  )
  return { words: lines.join('\n'), done: left === 0 }
}

function line(what: string, { resealed, left, unopenable }: z.output<typeof report>): string {
  return `${what}: ${resealed} sealed anew, ${left} left, ${unopenable.length} do not open`
}

function readOptions(args: readonly string[]) {
  const flags = { ...targetOptions, all: { type: 'boolean', default: false }, replace: { type: 'string' } } as const
  const { values, positionals } = readArguments(args, flags, USAGE)
  if (positionals.length > 0) throw new CommandError(USAGE)
  const lost = values.replace === undefined ? null : keyName(values.replace)
  if (lost !== null && values.all) throw new CommandError('--replace and --all are two commands: run one after the other')
  return { lost, all: values.all, issuer: values.issuer, vars: values.vars }
}

/** `ES256:2b9Xo...`, as logs and reports name a key. */
function keyName(text: string): { alg: SigningAlg; kid: string } {
  const at = text.indexOf(':')
  const alg = signingAlg.safeParse(text.slice(0, at))
  const kid = text.slice(at + 1)
  if (at < 0 || !alg.success || kid === '')
    throw new CommandError(`--replace takes ${signingAlg.options.join(', ')} and a kid, as in ES256:<kid>`)
  return { alg: alg.data, kid }
}
