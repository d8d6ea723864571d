import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../../scripts/build.ts'
import { descendants, running } from './processes.ts'

/** `npm start` as somebody types it in a terminal. */
export interface NpmStart {
  /** `http://localhost:<port>` */
  issuer: string
  /** ms from the command to the first page. */
  answeredAfter: number
  output(): string
  /** Presses Ctrl-C: every program of the terminal hears it, npm and what it started. Answers the ones that outlive it. */
  interrupt(): Promise<number[]>
}

const PATIENCE = 40_000 // ms: longer than `npm start` waits itself, and less than vitest does
const STOP = 10_000 // ms: it ends what it started by force after three

/** Runs `npm start` until its start page answers. `folder` holds its records and secrets. */
export async function npmStart(port: number, folder: string): Promise<NpmStart> {
  const began = performance.now()
  const child = spawnNpmStart(port, folder)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const interruptAll = () => signalGroup(child, 'SIGINT')
  process.once('exit', interruptAll)

  const issuer = `http://localhost:${port}`
  const until = began + PATIENCE
  while (!(await answers(issuer))) {
    if (performance.now() > until || child.exitCode !== null) {
      interruptAll()
      await Promise.race([ended, later(STOP)])
      throw new Error(`npm start did not answer:\n${output}`)
    }
    await later(25)
  }
  return {
    issuer,
    answeredAfter: performance.now() - began,
    output: () => output,
    async interrupt() {
      const programs = await descendants(child.pid)
      interruptAll()
      await Promise.race([ended, later(STOP)])
      process.removeListener('exit', interruptAll)
      const left = await outliving(programs)
      for (const pid of left) process.kill(pid, 'SIGKILL')
      return left
    },
  }
}

/** Runs `npm start` where it ends by itself. */
export async function npmStartFails(port: number, folder: string): Promise<{ code: number | null; output: string }> {
  const child = spawnNpmStart(port, folder)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

function spawnNpmStart(port: number, folder: string) {
  const args = ['start', '--', '--port', String(port), '--persist-to', join(folder, 'state'), '--vars', join(folder, 'vars')]
  // a group of its own, as a terminal gives it one
  return spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
}

async function answers(issuer: string): Promise<boolean> {
  const response = await fetch(`${issuer}/`, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
  await response?.body?.cancel()
  return response?.status === 200
}

/** Those that still run when there was time to end: a killed program does not go at once. */
async function outliving(programs: readonly number[]): Promise<number[]> {
  const until = performance.now() + STOP
  let left = await running(programs)
  while (left.length > 0 && performance.now() < until) {
    await later(50)
    left = await running(left)
  }
  return left
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // the group is gone already
  }
}
