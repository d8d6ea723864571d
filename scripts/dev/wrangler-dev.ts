import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { ROOT } from '../build.ts'
import { node, quietWrangler, wranglerScript } from '../wrangler.ts'

export interface WranglerDevOptions {
  port: number
  /** Where the records are kept, in full. */
  persistTo: string
  /** The file of secrets, in full. */
  vars: string
  /** The configuration of wrangler, in full; the repository's when absent. */
  config?: string
  /** The environment of wrangler.toml; the top level when absent. */
  environment?: string
  /** Variables beside those of wrangler.toml. */
  variables?: Readonly<Record<string, string>>
}

export interface WranglerDev {
  /** Resolves when it is over: `true` when that was asked for. */
  ended: Promise<boolean>
  /** What it said before anything was shown. */
  said(): string
  /** From now on what wrangler says is shown, but for a line a request: the Worker writes its own. */
  show(): void
  /** Ends it and everything it started, by force after a while. */
  stop(): Promise<void>
}

const PATIENCE = 3_000 // ms between asking it to end and ending it

/** Runs the Worker on this computer as wrangler would, and passes on the lines the Worker logs. */
export function wranglerDev(options: WranglerDevOptions): WranglerDev {
  // a group of its own: wrangler starts programs that a signal to it alone would leave behind
  const child = spawn(node, [wranglerScript, ...wranglerArguments(options)], {
    cwd: ROOT,
    env: { ...quietWrangler(), WRANGLER_LOG: 'log', WRANGLER_REGISTRY_PATH: join(options.persistTo, 'registry') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let shown = false
  let hidden = ''
  let asked = false
  const pass = (out: NodeJS.WriteStream) => (coloured: string) => {
    const line = stripVTControlCharacters(coloured)
    if (isLogLine(line)) out.write(`${line}\n`)
    else if (!shown) hidden += `${line}\n`
    else if (!line.startsWith('[wrangler:info] ')) out.write(`${line}\n`)
  }
  createInterface({ input: child.stdout }).on('line', pass(process.stdout))
  createInterface({ input: child.stderr }).on('line', pass(process.stderr))

  const ended = new Promise<boolean>((resolve) => {
    child.on('error', (error) => {
      hidden += `${error.message}\n`
      resolve(asked)
    })
    child.on('close', () => resolve(asked))
  })
  process.on('exit', () => signalGroup(child, 'SIGKILL'))
  return {
    ended,
    said: () => hidden,
    show() {
      shown = true
    },
    async stop() {
      asked = true
      signalGroup(child, 'SIGTERM')
      const force = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE)
      await ended
      clearTimeout(force)
      signalGroup(child, 'SIGKILL')
    },
  }
}

function wranglerArguments({ port, persistTo, vars, config, environment, variables = {} }: WranglerDevOptions): string[] {
  return [
    ...['dev', '--ip', '127.0.0.1', '--port', String(port)],
    ...['--inspector-port', '0'], // two of them would meet on the usual one
    ...['--persist-to', persistTo, '--env-file', vars, '--show-interactive-dev-session=false'],
    ...(config === undefined ? [] : ['--config', config]),
    ...(environment === undefined ? [] : ['--env', environment]),
    ...Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
  ]
}

function isLogLine(line: string): boolean {
  return line.startsWith('{') && line.endsWith('}')
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // the group is gone already
  }
}
