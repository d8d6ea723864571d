import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { jsonClient } from '../src/adapters/aws/json-client.ts'
import { dynamodbState } from '../src/adapters/dynamodb/state.ts'
import type { Documents } from '../src/config/documents.ts'
import { runMaintenance } from '../src/ops/maintenance.ts'
import { type Module, modules } from '../src/ports/layout5.ts'
import { noLog } from '../src/telemetry/log.ts'
import { CommandError, checkEndpoint, readArguments, runAsProcess } from './aws/command.ts'
import { credentialsOf } from './aws/parameters.ts'
import { AWS_USAGE, awsOptions, awsTarget, isForAws } from './aws/target.ts'
import { build } from './build.ts'
import { callOps, OpsError } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run maintenance -- on|off|status [module ...] [options]
Freezes the records of a module, of ${modules.join(', ')} (oidc): while its flag stands nothing is written there, sign-ins and
refreshes are answered 503 with Retry-After, ticks are skipped, and reads, discovery and keys go on. A running issuer notices within 10 s.
  --reason TEXT  what for, for whoever finds the flag
On Cloudflare alone (preset embedded) the running issuer is asked:
${TARGET_USAGE}
On AWS (preset aws in config/service.yaml or PRESET, or --aws) the table is written, with the credentials of the role restore
(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment): the issuer's own may not.
${AWS_USAGE}`

const FLAGS = {
  ...targetOptions,
  reason: { type: 'string' },
  ...awsOptions,
} as const

const ACTIONS = ['on', 'off', 'status'] as const
type Action = (typeof ACTIONS)[number]

/** What one module's flag is. */
const flag = z.object({
  set: z.boolean(),
  changed: z.boolean().optional(),
  since: z.string().optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
})
type Flag = z.output<typeof flag>

if (import.meta.main) await runAsProcess(() => maintenance(process.argv.slice(2), console.log))

/** The command, less the process. @throws CommandError */
export async function maintenance(args: readonly string[], say: (line: string) => void): Promise<void> {
  const { action, named, ...options } = readOptions(args)
  try {
    const { documents } = await build()
    const flagOf = isForAws(options, documents) ? onTable(action, options, documents) : await onIssuer(action, options, documents)
    for (const module of named) say(inWords(action, module, await flagOf(module)))
  } catch (error) {
    throw forPeople(error)
  }
}

type FlagOf = (module: Module) => Promise<Flag>

async function onIssuer(action: Action, { reason, issuer, vars }: Options, documents: Documents): Promise<FlagOf> {
  const target = await opsTarget({ issuer, vars }, documents)
  return async (module) => {
    const asked = { module, ...(action === 'on' && reason !== undefined ? { reason } : {}) }
    try {
      return flag.parse(await callOps(target, { command: `maintenance.${action}`, ...asked }))
    } catch (error) {
      if (!(error instanceof OpsError) || error.status !== 404) throw error
      throw new CommandError(`${target.issuer} does not set the flag itself: it has no OPS_KEY, or is on AWS (--aws)`)
    }
  }
}

function onTable(action: Action, options: Options, documents: Documents): FlagOf {
  const { instance, region } = awsTarget(options, documents)
  const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
  const clock = { now: () => Date.now() }
  const asked = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? process.env.AWS_ENDPOINT_URL
  const endpoint = asked === undefined ? undefined : checkEndpoint(asked)
  const credentials = credentialsOf(process.env)
  const client = jsonClient({ service: 'dynamodb', region, credentials, endpoint, fetch, clock, random })

  const maintenance = (module: Module) => dynamodbState({ client, instance, module, clock, random, restore: true })
  const reason = action === 'on' && options.reason !== undefined ? { reason: options.reason } : {}
  return async (module) =>
    flag.parse(
      await runMaintenance(
        { command: `maintenance.${action}`, module, ...reason },
        { maintenance, audit: { record() {} }, clock, log: noLog },
      ),
    )
}

function inWords(action: Action, module: Module, { set, changed, since, by, reason }: Flag): string {
  const details = since === undefined ? '' : ` since ${since}, by ${by}${reason === undefined ? '' : `: ${reason}`}`
  if (!set) return `${module}: ${action === 'off' && changed === false ? 'was not under maintenance' : 'not under maintenance'}`
  return `${module}: under maintenance${changed === false ? ' already' : ''}${details}`
}

interface Options {
  reason: string | undefined
  issuer: string | undefined
  vars: string
  aws: boolean
  region: string | undefined
}

function readOptions(args: readonly string[]): Options & { action: Action; named: readonly Module[] } {
  const { values, positionals } = readArguments(args, FLAGS, USAGE)
  const [word, ...names] = positionals
  const action = ACTIONS.find((one) => one === word)
  if (action === undefined) throw new CommandError(USAGE)
  const named = (names.length === 0 ? ['oidc'] : names).map((name) => {
    const module = modules.find((one) => one === name)
    if (module === undefined) throw new CommandError(`${name} is no module: there are ${modules.join(', ')}`)
    return module
  })
  const { reason, issuer, vars, aws, region } = values
  return { action, named, reason, issuer, vars, aws, region }
}
