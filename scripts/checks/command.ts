import { spawn } from 'node:child_process'

export interface Outcome {
  /** The exit status; 1 when a signal ended it. */
  status: number
  /** Standard output and error, as they came. */
  output: string
}

/** Runs a program of node_modules (or any other) to its end, without input, and answers what it said. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<Outcome> {
  const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  child.on('error', reject)
  child.on('close', (code) => resolve({ status: code ?? 1, output }))
  return promise
}
