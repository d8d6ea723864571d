import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { jsonClient } from '../src/adapters/aws/json-client.ts'
import { dynamodbState } from '../src/adapters/dynamodb/state.ts'
import type { Documents } from '../src/config/documents.ts'
import { PortError } from '../src/ports/error.ts'
import { type Module, modules } from '../src/ports/layout5.ts'
import { findMaintenance, liftMaintenance, setMaintenance } from '../src/records/maintenance.ts'
import { noLog } from '../src/telemetry/log.ts'
import { CommandError, checkEndpoint, checkRegion, HelpWanted, runAsProcess } from './aws/command.ts'
import { credentialsOf } from './aws/parameters.ts'
import { BuildError, build } from './build.ts'
import { callOps, OpsError } from './ops-client.ts'
import { opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run maintenance -- on|off|status [module ...] [options]
Freezes the records of a module, of ${modules.join(', ')} (oidc): while its flag stands nothing is written there, sign-ins and
refreshes are answered 503 with Retry-After, ticks are skipped, and reads, discovery and keys go on. A running issuer notices within 10 s.
  --reason TEXT  what for, for whoever finds the flag
On Cloudflare alone (preset embedded) the running issuer is asked:
${TARGET_USAGE}
On AWS (preset aws in config/service.yaml or PRESET, or --aws) the table is written, with the credentials of the role restore
(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment): the issuer's own may not.
  --aws          whatever the preset
  --region REGION  AWS_REGION in the environment, else that of config/service.yaml`

const ACTIONS = ['on', 'off', 'status'] as const
type Action = (typeof ACTIONS)[number]

/** What one module's flag is. */
interface Flag {
  set: boolean
  changed?: boolean
  since?: string
  by?: string
  reason?: string
}

if (import.meta.main) await runAsProcess(() => maintenance(process.argv.slice(2), console.log))

/** The command, less the process. @throws CommandError */
export async function maintenance(args: readonly string[], say: (line: string) => void): Promise<void> {
  const { action, named, ...options } = readOptions(args)
  try {
    const { documents } = await build()
    const isAws = options.aws || (process.env.PRESET ?? documents.service.preset) === 'aws'
    const flagOf = isAws ? onTable(action, options, documents) : await onIssuer(action, options, documents)
    for (const module of named) say(inWords(action, module, await flagOf(module)))
  } catch (error) {
    const isForPeople = error instanceof OpsError || error instanceof BuildError || error instanceof PortError
    throw isForPeople ? new CommandError(error.message, { cause: error }) : error
  }
}

type FlagOf = (module: Module) => Promise<Flag>

async function onIssuer(action: Action, { reason, issuer, vars }: Options, documents: Documents): Promise<FlagOf> {
  const target = await opsTarget({ issuer, vars }, documents)
  return async (module) => {
    const asked = { module, ...(action === 'on' && reason !== undefined ? { reason } : {}) }
    try {
      return (await callOps(target, { command: `maintenance.${action}`, ...asked })) as unknown as Flag
    } catch (error) {
      if (!(error instanceof OpsError) || error.status !== 404) throw error
      throw new CommandError(`${target.issuer} does not set the flag itself: it has no OPS_KEY, or is on AWS (--aws)`)
    }
  }
}

function onTable(action: Action, options: Options, { service }: Documents): FlagOf {
  const region = options.region ?? process.env.AWS_REGION ?? service.aws.region
  if (region === undefined) throw new CommandError('in which region? --region eu-west-1, AWS_REGION, or aws.region in config/service.yaml')
  const instance = process.env.INSTANCE ?? service.instance
  const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
  const clock = { now: () => Date.now() }
  const asked = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? process.env.AWS_ENDPOINT_URL
  const endpoint = asked === undefined ? undefined : checkEndpoint(asked)
  const credentials = credentialsOf(process.env)
  const client = jsonClient({ service: 'dynamodb', region: checkRegion(region), credentials, endpoint, fetch, clock, random })

  return async (module) => {
    const state = dynamodbState({ client, instance, module, clock, random, restore: true })
    const before = await findMaintenance(state, noLog)
    switch (action) {
      case 'status':
        return flagOf(before)
      case 'off':
        await liftMaintenance(state)
        return { set: false, changed: before.set }
      case 'on': {
        const { reason } = options
        const at = Math.floor(clock.now() / 1_000)
        const changed = await setMaintenance(state, { at, by: 'operator', ...(reason === undefined ? {} : { reason }) })
        return { ...flagOf(await findMaintenance(state, noLog)), changed }
      }
    }
  }
}

function flagOf({ set, flag }: Awaited<ReturnType<typeof findMaintenance>>): Flag {
  if (flag === null) return { set }
  const { at, by, reason } = flag
  return { set, since: new Date(at * 1_000).toISOString(), by, ...(reason === undefined ? {} : { reason }) }
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
  const { values, positionals } = parsed(args)
  if (values.help) throw new HelpWanted(USAGE)
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

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...targetOptions,
        reason: { type: 'string' },
        aws: { type: 'boolean', default: false },
        region: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}
