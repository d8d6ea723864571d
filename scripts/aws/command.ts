import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { isInstanceName } from '../../src/ports/layout5.ts'

/** What keeps a command from being carried out, in words for the person who typed it. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Not carried out, because how it is used was asked for. */
export class HelpWanted extends CommandError {}

/** Runs a command as the process it is: its words for its user on standard error and a status of 1, and `--help` on standard output. */
export async function runAsProcess(command: () => void | Promise<void>): Promise<void> {
  try {
    await command()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    if (error instanceof HelpWanted) return console.log(error.message)
    console.error(error.message)
    process.exitCode = 1
  }
}

const HELP = { help: { type: 'boolean', short: 'h' } } as const

type Arguments<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ allowPositionals: true; options: Options & typeof HELP }>
>

/**
 * What a command was given: options, and what stands beside them.
 *
 * @throws CommandError an option it does not have, or one without its value. HelpWanted
 */
export function readArguments<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  usage: string,
): Arguments<Options> {
  try {
    const read: Arguments<Options> = parseArgs({ args: [...args], allowPositionals: true, options: { ...options, ...HELP } })
    if ('help' in read.values) throw new HelpWanted(usage)
    return read
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  }
}

export type Flags = Readonly<Record<string, { type: 'boolean' } | { type: 'string' }>>

/**
 * The options of a command that takes nothing else.
 *
 * @throws CommandError an option it does not have, one without its value, an argument
 */
export function readFlags(args: readonly string[], flags: Flags, usage: string): Map<string, string | true> {
  try {
    const { values } = parseArgs({ args: [...args], options: { ...flags, help: { type: 'boolean', short: 'h' } } })
    const given = new Map(
      Object.entries(values).flatMap(([name, value]): [string, string | true][] => (isGiven(value) ? [[name, value]] : [])),
    )
    if (given.has('help')) throw new HelpWanted(usage)
    return given
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  }
}

function isGiven(value: unknown): value is string | true {
  return typeof value === 'string' || value === true
}

/** A flag's text; undefined when it was not given. @throws CommandError it was given without any */
export function textOf(flags: ReadonlyMap<string, string | true>, name: string): string | undefined {
  const value = flags.get(name)
  if (value === '') throw new CommandError(`--${name} is empty`)
  return typeof value === 'string' ? value : undefined
}

/** The instance of `--instance`, or of the variable. @throws CommandError */
export function instanceOf(flags: ReadonlyMap<string, string | true>, environment: NodeJS.ProcessEnv): string {
  const instance = textOf(flags, 'instance') ?? environment.INSTANCE
  if (instance === undefined) throw new CommandError('which instance? --instance acme, or INSTANCE in the environment')
  if (isInstanceName(instance)) return instance
  throw new CommandError(
    `--instance ${instance} is no instance: lower-case letters, digits and dashes, and not internal, external, private, export`,
  )
}

/** @throws CommandError it is no name of a region */
export function checkRegion(region: string): string {
  if (/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region)) return region
  throw new CommandError(`--region ${region} is no AWS region like eu-west-1`)
}

/** Some of a list by `--<flag> a,b`; all of it when the flag was not given. @throws CommandError naming what there is */
export function someOf<T extends string>(all: readonly T[], flags: ReadonlyMap<string, string | true>, flag: string): T[] {
  const named = textOf(flags, flag)?.split(',')
  if (named === undefined) return [...all]
  for (const name of named) {
    if (!all.some((one) => one === name)) throw new CommandError(`--${flag} ${name}: there is none. There are: ${all.join(', ')}`)
  }
  return all.filter((one) => named.includes(one))
}

/** @throws CommandError it is no address of a service */
export function checkEndpoint(endpoint: string): string {
  if (URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)) return endpoint
  throw new CommandError(`the endpoint ${endpoint} (--endpoint, AWS_ENDPOINT_URL...) is no http or https address`)
}
