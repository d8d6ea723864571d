import { join } from 'node:path'
import { email } from '../src/config/values.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { ROOT } from './build.ts'
import { checkExpectations } from './policy/expectations.ts'
import { explain } from './policy/explain.ts'
import { readPolicy } from './policy/read-policy.ts'

const USAGE = `npm run policy -- explain <person> [client] | test <file> [options]
What config/policy.yaml comes to, for one person or for a file of expectations.
  explain <person>            which groups they hold and why, who lets them in and who does not, and what each token would say
  explain <person> <client>   the same of one client, and of each resource by it
    --groups a@x,b@x            the directory groups they are in ('': none); else as the local directory of config/service.yaml has them
  test <file>                 holds the policy to a YAML list of expectations; each that fails is a line, and the status 1. An item:
                                - person: ada@acme.example           # or recovery, conformance
                                  groups: [engineering@acme.example] # their directory groups; else those of the local directory
                                  holds: [app:demo:user]             # among others
                                  not_holds: [app:console:operator]
                                  admitted: [demo]                   # clients and resources
                                  refused: [backend]
                                  token_groups: { demo: [app:demo:user] } # all that a token for it names
  --config DIR                the folder of service.yaml and policy.yaml (config)
Nothing is written, and nobody is asked: both read files only.`

const FLAGS = {
  groups: { type: 'string' },
  config: { type: 'string', default: join(ROOT, 'config') },
} as const

if (import.meta.main) await runAsProcess(async () => console.log(await policy(process.argv.slice(2))))

/** @returns what to print. @throws CommandError the command, a document or the file is wrong, or an expectation is not met */
export async function policy(args: readonly string[]): Promise<string> {
  const options = readOptions(args)
  const documents = await readPolicy(options.config)
  if (options.verb === 'test') return checkExpectations(options.file, documents)
  const { person, client, groups } = options
  return explain({ person, client, groups }, documents)
}

type Options = { config: string } & (
  | { verb: 'explain'; person: string; client: string | undefined; groups: string[] | undefined }
  | { verb: 'test'; file: string }
)

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = readArguments(args, FLAGS, USAGE)
  const { config } = values
  const [verb, about, client, ...rest] = positionals
  if (about === undefined || rest.length > 0) throw new CommandError(USAGE)
  if (verb === 'explain') return { verb, config, person: about, client, groups: groupsOf(values.groups) }
  if (verb !== 'test' || client !== undefined) throw new CommandError(USAGE)
  if (values.groups !== undefined) throw new CommandError('--groups is for explain: a file says them in each item')
  return { verb, config, file: about }
}

function groupsOf(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .filter(Boolean)
    .map((group) => {
      const { data } = email.safeParse(group.trim())
      if (data === undefined) throw new CommandError(`--groups: ${group} is no address of a directory group`)
      return data
    })
}
