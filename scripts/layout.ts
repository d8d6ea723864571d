import { parseArgs } from 'node:util'
import { PortError } from '../src/ports/error.ts'
import { isInstanceName, locate, locatePrefix, locateSet, type Module, objectName, secretPath, tableName } from '../src/ports/layout5.ts'

const USAGE = `Where records and secrets stand in storage layout v5, one JSON line for each argument.

  npm run --silent layout -- [--instance <name>] <key>...
  npm run --silent layout -- [--instance <name>] --prefix <prefix>...
  npm run --silent layout -- [--instance <name>] --set <set> <member>...
  npm run --silent layout -- [--instance <name>] --secret <path>...

  <key>      module, table, partition and sort key, and the Durable Object that keeps the record
  --prefix   the query that lists the prefix (skPrefix null: the whole partition), or a scan
  --set      where members of an Index set stand
  --secret   the SSM parameter of a secret's logical address
  --instance the instance, acme unless said
  --         ends the options: what follows may start with a dash

A key of no module stands in the table of whichever module asks, so its module and table are null; the object shown is the
one of module oidc. What layout v5 refuses is a line with an error, and no failure: the exit status is 0.
`

const options = {
  prefix: { type: 'boolean' },
  set: { type: 'boolean' },
  secret: { type: 'boolean' },
  instance: { type: 'string', default: 'acme' },
  help: { type: 'boolean', short: 'h' },
} as const

interface Output {
  status: number
  stdout: string
  stderr: string
}

/** The command, less the process: what it writes and the status it ends with. */
export function layout(args: string[]): Output {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    if (values.help) return { status: 0, stdout: USAGE, stderr: '' }
    const modes = (['prefix', 'set', 'secret'] as const).filter((mode) => values[mode])
    if (modes.length > 1) return misused('one of --prefix, --set and --secret at a time')
    if (!isInstanceName(values.instance)) return misused(`${values.instance} is no name of an instance`)
    if (positionals.length < (values.set ? 2 : 1)) return misused(values.set ? 'a set and its members are missing' : 'nothing to look up')

    const lines = linesOf(modes[0] ?? 'key', positionals, values.instance)
    return { status: 0, stdout: lines.map((line) => `${JSON.stringify(line)}\n`).join(''), stderr: '' }
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) return misused(error.message)
    throw error
  }
}

function misused(why: string): Output {
  return { status: 2, stdout: '', stderr: `layout: ${why}\n\n${USAGE}` }
}

function linesOf(mode: 'key' | 'prefix' | 'set' | 'secret', args: string[], instance: string): object[] {
  switch (mode) {
    case 'key':
      return args.map((key) => ({ key, ...orError(() => keyLine(key, instance)) }))
    case 'prefix':
      return args.map((prefix) => ({ prefix, ...orError(() => locatePrefix(prefix)) }))
    case 'set': {
      const [set = '', ...members] = args
      return members.map((member) => ({ set, member, ...orError(() => setLine(set, member, instance)) }))
    }
    case 'secret':
      return args.map((path) => ({ path, ...orError(() => ({ parameter: secretPath(path, instance) })) }))
  }
}

function keyLine(key: string, instance: string): object {
  const location = locate(key)
  const { module, pk, sk } = location
  // The router over every table sends a key of no module to oidc's.
  const object = objectName(tableName(instance, module ?? 'oidc'), location)
  return { module, table: tableOf(instance, module), pk, sk, object }
}

function setLine(set: string, member: string, instance: string): object {
  const { module, pk, sk } = locateSet(set, member)
  return { module, table: tableOf(instance, module), pk, sk }
}

function tableOf(instance: string, module: Module | null): string | null {
  return module === null ? null : tableName(instance, module)
}

function orError(look: () => object): object {
  try {
    return look()
  } catch (error) {
    if (error instanceof PortError) return { error: `${error.code}: ${error.message}` }
    throw error
  }
}

if (import.meta.main) {
  const { status, stdout, stderr } = layout(process.argv.slice(2))
  process.stderr.write(stderr)
  process.stdout.write(stdout)
  // The status is set and the process left to end: exit() would cut off what a slow pipe has not taken.
  process.exitCode = status
}
