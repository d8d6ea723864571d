import { parseArgs } from 'node:util'

/** What is driven. The ceiling answers to all of them with the one thing it does. */
export const workloads = ['exchange', 'refresh', 'userinfo'] as const
export type Workload = (typeof workloads)[number]

export interface BenchOptions {
  workloads: readonly Workload[]
  connections: readonly number[]
  /** How often every cell is measured; the figures are medians over these. */
  runs: number
  /** seconds a refresh or userinfo cell is measured for */
  seconds: number
  /** codes an exchange cell redeems */
  codes: number
}

/** What was asked for and can't be, in words for the person who typed it. */
export class ArgumentsError extends Error {}

export const USAGE = `npm run bench -- [options]
  --quick            one short run of everything: whether it works, not how fast it is
  --only NAME        one workload: ${workloads.join(', ')};
                     or by itself: srp (CPU of a sign-in by password), ticks (calls of one at rest), directory (a large Workspace read)
  --connections N    one number of connections (1, 8 and 32)
  --runs N           how often each is measured (5)`

const MOST_CONNECTIONS = 32 // as many people as there are to sign in: each connection refreshes a session of its own

/** @throws ArgumentsError */
export function readArguments(args: readonly string[]): BenchOptions {
  const { quick, only, connections, runs } = parse(args)
  return {
    workloads: only === undefined ? workloads : [workloadNamed(only)],
    connections: connections === undefined ? [1, 8, 32] : [count('--connections', connections, MOST_CONNECTIONS)],
    runs: runs === undefined ? (quick ? 1 : 5) : count('--runs', runs, 1_000),
    // Three seconds hold 300 ticks of a CPU clock that counts hundredths, and a few hundred requests of the slowest.
    seconds: quick ? 1 : 3,
    codes: quick ? 200 : 1_000,
  }
}

function parse(args: readonly string[]) {
  try {
    const options = {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      connections: { type: 'string' },
      runs: { type: 'string' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new ArgumentsError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function workloadNamed(name: string): Workload {
  const workload = workloads.find((known) => known === name)
  if (workload === undefined) throw new ArgumentsError(`--only ${name}: there is no such workload\n\n${USAGE}`)
  return workload
}

function count(option: string, text: string, most: number): number {
  const number = Number(text)
  if (!/^[0-9]+$/.test(text) || number < 1 || number > most)
    throw new ArgumentsError(`${option} ${text} is no number from 1 to ${most}\n\n${USAGE}`)
  return number
}
