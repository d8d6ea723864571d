import { randomBytes } from 'node:crypto'
import type { Documents } from '../src/config/documents.ts'
import { duration } from '../src/config/values.ts'
import { fromUtf8 } from '../src/crypto/bytes.ts'
import { Refusal } from '../src/http/refusal.ts'
import { type ClientCommand, LONGEST_OVERLAP, runClients } from '../src/ops/client-secrets.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { openParameters } from './aws/parameters.ts'
import { AWS_USAGE, awsOptions, awsTarget, isForAws } from './aws/target.ts'
import { build } from './build.ts'
import { listing, parseAnswer } from './clients/answers.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run clients -- list | show <id> | rotate <id> | purge <id> [options]
The secrets of clients whose row in config/policy.yaml says \`secret: { generate: true }\`.
  list              which there are, when each was written, until when the one before is good; and what is left of others
  show <id>         print the secret of now on standard output, and nothing else there
  rotate <id>       draw another. The one of now stays good for a while:
    --overlap T       for 12h, 7d, ...: at most 7d; 0: it is refused at once (24h)
    --force           also while the one before is still good, which then ends at once
  purge <id>        delete what is left of a client that the policy no longer has, or no longer has a secret for there
    --yes             do it: without, it is only said
On Cloudflare alone (preset embedded) the running issuer is asked:
${TARGET_USAGE}
On AWS (preset aws in config/service.yaml or PRESET, or --aws) it is done in SSM, by the policy on this computer, with AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment:
${AWS_USAGE}`

const FLAGS = {
  overlap: { type: 'string' },
  force: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  ...targetOptions,
  ...awsOptions,
} as const

const verbs = ['list', 'show', 'rotate', 'purge'] as const

if (import.meta.main) {
  await runAsProcess(async () => {
    const { output, words } = await clients(process.argv.slice(2))
    if (output !== '') console.log(output)
    if (words !== '') console.error(words)
  })
}

/** What a command leaves: what was asked for goes to standard output, what was done is said on standard error. */
export interface Outcome {
  output: string
  words: string
}

/** @throws CommandError */
export async function clients(
  args: readonly string[],
  readDocuments = async (): Promise<Documents> => (await build()).documents,
): Promise<Outcome> {
  const options = readOptions(args)
  try {
    const documents = await readDocuments()
    return await run(options, isForAws(options, documents) ? onAws(options, documents) : await onIssuer(options, documents))
  } catch (error) {
    if (error instanceof Refusal) throw new CommandError(`${error.code}: ${error.message}`, { cause: error })
    throw forPeople(error)
  }
}

/** The members of the answer; a secret that was asked for stands as `opened`. */
type CarryOut = (command: ClientCommand) => Promise<Record<string, unknown>>

async function run({ verb, client, overlap, force, yes }: Options, carryOut: CarryOut): Promise<Outcome> {
  switch (verb) {
    case 'list':
      return { output: listing(parseAnswer('list', await carryOut({ command: 'client.list' }))), words: '' }
    case 'show':
      return { output: parseAnswer('show', await carryOut({ command: 'client.show', client })).opened, words: '' }
    case 'rotate': {
      const { previous_until } = parseAnswer('rotate', await carryOut({ command: 'client.rotate', client, overlap, force }))
      const how = `npm run clients -- show ${client}`
      if (previous_until === null) return said(`${client} had no secret: one is made. ${how}`)
      const before = overlap === 0 ? 'refused from now on' : `good until ${previous_until}`
      return said(`${client} has a new secret, the one before is ${before}. ${how}`)
    }
    case 'purge': {
      const { orphans } = parseAnswer('list', await carryOut({ command: 'client.list' }))
      const paths = orphans.filter((orphan) => orphan.client === client).map(({ path }) => path)
      // What is not to be purged, the command itself refuses, in its own words.
      if (!yes && paths.length > 0) return said(`would delete ${paths.join(', ')}: say --yes`)
      return said(`deleted ${parseAnswer('purge', await carryOut({ command: 'client.purge', client })).purged.join(', ')}`)
    }
  }
}

function said(words: string): Outcome {
  return { output: '', words }
}

/** The running issuer, by its operator's route. */
async function onIssuer(options: Options, documents: Documents): Promise<CarryOut> {
  const target = await opsTarget(options, documents)
  return (command) => callOps(target, command)
}

/** The same commands on SSM. What is made here is sealed for nobody: it goes no further than this process. */
function onAws(options: Options, documents: Documents): CarryOut {
  const { service, policy } = documents
  const { instance, region } = awsTarget(options, documents)
  const secrets = openParameters({ instance, region, keyId: service.aws.parameter_key }, process.env)
  const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
  // Whoever writes to SSM is in CloudTrail.
  const parts = { policy, secrets, clock: { now: () => Date.now() }, random, audit: { record: () => {} } }
  return async (command) => {
    const { sealed, ...answer } = await runClients(command, parts, async (plaintext) => fromUtf8(plaintext) ?? '')
    return sealed === undefined ? answer : { ...answer, opened: sealed }
  }
}

interface Options {
  verb: (typeof verbs)[number]
  /** '' of `list`. */
  client: string
  /** s */
  overlap: number
  force: boolean
  yes: boolean
  aws: boolean
  region: string | undefined
  issuer: string | undefined
  vars: string
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = readArguments(args, FLAGS, USAGE)
  const [word, client = '', ...rest] = positionals
  const verb = verbs.find((one) => one === word)
  if (verb === undefined || rest.length > 0 || (client === '') !== (verb === 'list')) throw new CommandError(USAGE)
  if (verb !== 'rotate' && (values.overlap !== undefined || values.force)) throw new CommandError('--overlap and --force are for rotate')
  if (verb !== 'purge' && values.yes) throw new CommandError('--yes is for purge')
  const { force, yes, aws, region, issuer, vars } = values
  return { verb, client, overlap: overlapOf(values.overlap ?? '24h'), force, yes, aws, region, issuer, vars }
}

/** Seconds. */
function overlapOf(text: string): number {
  const parsed = text === '0' ? { success: true, data: 0 } : duration.safeParse(text)
  if (parsed.data === undefined) throw new CommandError(`--overlap ${text} is neither 0 nor a duration like 12h or 7d`)
  if (parsed.data > LONGEST_OVERLAP) throw new CommandError(`--overlap ${text} is over 7d`)
  return parsed.data
}
