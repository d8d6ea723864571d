import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import type { Documents } from '../src/config/documents.ts'
import type { WorkspaceCommand } from '../src/ops/workspaces.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run workspace -- connect | list | probe <id> | refresh <id> | disconnect <id> [options]
The Google Workspaces whose people may sign in. The running issuer is asked.
  connect           take a service account's key, to which the Workspace has granted domain-wide delegation of the four scopes. Again, for
                    a Workspace that is connected, to give it another key, admin, domains or groups; what is not named stays
    --key FILE        its key file, JSON; it is kept in the secrets, and shown by nothing
    --admin ADDRESS   the administrator it acts as
    --workspace ID    refuse the key when it opens another Workspace than this
    --serve DOMAINS   whose people it answers for, separated by commas, or all (at first the admin's own domain)
    --groups GROUPS   the groups that are read, by address, separated by commas, or all (all)
  list              which there are, when each was read, and whether Google takes their keys
  probe <id>        ask Google whether it takes the key
  refresh <id>      read people and groups now; what comes of it is in the list and in the log
  disconnect <id>   forget what was read, the key, and the Workspace
    --yes             do it: without, it is only said
${TARGET_USAGE}`

const FLAGS = {
  key: { type: 'string' },
  admin: { type: 'string' },
  workspace: { type: 'string' },
  serve: { type: 'string' },
  groups: { type: 'string' },
  yes: { type: 'boolean', default: false },
  ...targetOptions,
} as const

const verbs = ['connect', 'list', 'probe', 'refresh', 'disconnect'] as const
type Verb = (typeof verbs)[number]

const shown = z.object({
  workspace: z.string(),
  admin: z.string(),
  domains: z.array(z.string()),
  serve: z.array(z.string()),
  sync_groups: z.array(z.string()),
})

const listed = shown.extend({
  contested: z.array(z.string()),
  read_at: z.string().nullable(),
  people: z.number().nullable(),
  groups: z.number().nullable(),
  probe: z.object({ ok: z.boolean(), reason: z.string().nullable() }).nullable(),
})

const answers = {
  connect: shown.extend({ outcome: z.enum(['connected', 'reconnected']) }),
  list: z.object({ workspaces: z.array(listed) }),
  probe: z.object({ workspace: z.string(), domains: z.array(z.string()) }),
  refresh: z.object({ workspace: z.string() }),
  disconnect: z.object({ workspace: z.string() }),
}

if (import.meta.main) await runAsProcess(async () => console.log(await workspace(process.argv.slice(2))))

/** The command, less the process. @returns what was done or is there, in words. @throws CommandError */
export async function workspace(
  args: readonly string[],
  readDocuments = async (): Promise<Documents> => (await build()).documents,
  ask: typeof callOps = callOps,
): Promise<string> {
  const options = readOptions(args)
  if (options.verb === 'disconnect' && !options.yes)
    return `would forget Workspace ${options.id}, its key and its people, who can sign in no more once lifetimes.hold is over: say --yes`
  try {
    const command = await commandOf(options)
    const target = await opsTarget(options, await readDocuments())
    return inWords(options.verb, await ask(target, command))
  } catch (error) {
    throw forPeople(error)
  }
}

async function commandOf({ verb, id, key, admin, workspace, serve, groups }: Options): Promise<WorkspaceCommand> {
  switch (verb) {
    case 'connect':
      return {
        command: 'workspace.connect',
        key: await readKey(key),
        admin,
        ...(workspace === undefined ? {} : { workspace }),
        ...(serve === undefined ? {} : { serve: listOf(serve) }),
        ...(groups === undefined ? {} : { sync_groups: listOf(groups) }),
      }
    case 'list':
      return { command: 'workspace.list' }
    case 'probe':
    case 'refresh':
    case 'disconnect':
      return { command: `workspace.${verb}`, workspace: id }
  }
}

async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new CommandError(`${file} can't be read`, { cause })
  }
}

/** `all` is no limit at all. */
function listOf(text: string): string[] {
  if (text === 'all') return []
  return text.split(',').flatMap((name) => name.trim() || [])
}

function inWords(verb: Verb, answer: Record<string, unknown>): string {
  switch (verb) {
    case 'connect': {
      const { workspace, outcome, ...about } = read(answers.connect, answer)
      return `${outcome} Workspace ${workspace}: ${scope(about)}. It is being read: npm run workspace -- list`
    }
    case 'list': {
      const { workspaces } = read(answers.list, answer)
      return workspaces.length === 0 ? 'no Workspace is connected' : workspaces.map(line).join('\n')
    }
    case 'probe': {
      const { workspace, domains } = read(answers.probe, answer)
      return `Google takes the key of Workspace ${workspace}; its verified domains are ${domains.join(', ')}`
    }
    case 'refresh':
      return `asked for Workspace ${read(answers.refresh, answer).workspace} to be read now: npm run workspace -- list`
    case 'disconnect':
      return `forgot Workspace ${read(answers.disconnect, answer).workspace}. The key is still good at Google: delete it there`
  }
}

function line({ workspace, admin, contested, read_at, people, groups, probe, ...about }: z.output<typeof listed>): string {
  const when = read_at === null ? 'not read yet' : `read at ${read_at}, ${people} people and ${groups} groups`
  const trouble = [
    ...(probe?.ok === false ? [`Google can't be asked (${probe.reason}): nothing of it is trusted`] : []),
    ...(contested.length > 0 ? [`another Workspace claims ${contested.join(', ')} too: nobody answers for it`] : []),
  ]
  return [`${workspace}  as ${admin}; ${scope({ ...about, admin })}; ${when}`, ...trouble.map((text) => `  ${text}`)].join('\n')
}

function scope({ domains, serve, sync_groups }: Omit<z.output<typeof shown>, 'workspace'>): string {
  const whom = serve.length === 0 ? `all its domains (${domains.join(', ')})` : serve.join(', ')
  return `people of ${whom}, ${sync_groups.length === 0 ? 'every group' : `${sync_groups.length} groups`}`
}

function read<Schema extends z.ZodType>(schema: Schema, answer: Record<string, unknown>): z.output<Schema> {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw new CommandError('the issuer answered something else than this command expects: is it of the same version?')
}

interface Options {
  verb: Verb
  id: string
  key: string
  admin: string
  workspace: string | undefined
  serve: string | undefined
  groups: string | undefined
  yes: boolean
  issuer: string | undefined
  vars: string
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = readArguments(args, FLAGS, USAGE)
  const [word, id = '', ...rest] = positionals
  const verb = verbs.find((one) => one === word)
  if (verb === undefined || rest.length > 0) throw new CommandError(USAGE)
  const takesId = verb === 'probe' || verb === 'refresh' || verb === 'disconnect'
  if (takesId !== (id !== '')) throw new CommandError(takesId ? `which Workspace? npm run workspace -- ${verb} C01ipl6j0` : USAGE)
  const { key = '', admin = '', workspace, serve, groups, yes, issuer, vars } = values
  if (verb === 'connect' && (key === '' || admin === '')) throw new CommandError('connect needs --key FILE and --admin ADDRESS')
  if (serve === '' || groups === '') throw new CommandError(`--${serve === '' ? 'serve' : 'groups'} is empty: name some, or all`)
  return { verb, id, key, admin, workspace, serve, groups, yes, issuer, vars }
}
