import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../scripts/bench/free-port.ts'
import { ROOT } from '../../scripts/build.ts'
import { parseDevVars } from '../../scripts/dev-vars.ts'

/** An issuer that runs as `npm start` runs it, on a port, records and secrets of its own. */
export interface RunningIssuer extends AsyncDisposable {
  /** `http://localhost:<port>` */
  issuer: string
  port: number
  /** Of `scripts/dev.ts`, which started the rest. */
  pid: number | undefined
  /** The secret of the client `backend`. */
  backendSecret: string
  /** The file of its secrets. */
  vars: string
  /** The value of every secret it was started with, by name: what no log line may hold. */
  secrets: ReadonlyMap<string, string>
  /** Everything it has written so far, standard error too. */
  output(): string
  /** Ends it and removes its records. Safe to repeat. */
  stop(): Promise<void>
  /** Ends it and starts it again over the same records, on the same port. */
  restart(): Promise<void>
}

export interface StartOptions {
  /** Calls the scheduled handler every minute, as Cloudflare does. Off: a test's records are changed by the test alone. */
  cron?: boolean
  /** Keeps its records in an emulator of AWS, as `npm run start:aws` does. Off. */
  aws?: boolean
  /** Changes a copy of the policy document, as text. */
  policy?: (text: string) => string
  /** The same of the service document. */
  service?: (text: string) => string
  /** Where it listens, when somebody has to know before it does. */
  port?: number
  /** Variables of the Worker beside those it is given. */
  variables?: Readonly<Record<string, string>>
}

const START = 60_000 // ms: as long as `npm start` waits itself, twice over
const STOP = 8_000 // ms: it ends what it started by force after three

/** Starts the issuer of this repository's documents and resolves when it answers. `await using` ends it also when the test fails. */
export async function startIssuer({
  cron = false,
  aws = false,
  port: wanted,
  variables = {},
  ...changes
}: StartOptions = {}): Promise<RunningIssuer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluis-e2e-'))
  const isOther = changes.policy !== undefined || changes.service !== undefined
  const config = isOther ? ['--config', await otherDocuments(folder, changes)] : []
  const vars = join(folder, 'vars')
  await writeFile(
    vars,
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const port = wanted ?? (await freePort())
  const args = [
    '--port',
    String(port),
    '--persist-to',
    join(folder, 'state'),
    '--vars',
    vars,
    ...(cron ? [] : ['--no-cron']),
    ...(aws ? ['--aws'] : []),
    ...config,
  ]
  let written = ''
  const start = () => startProcess(args, (text) => (written += text))
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })

  let child = await start().catch(async (error: unknown) => {
    await remove()
    throw error
  })
  const secrets = parseDevVars(await readFile(vars, 'utf8'))
  const stop = async () => {
    await stopProcess(child)
    await remove()
  }
  return {
    issuer: `http://localhost:${port}`,
    port,
    get pid() {
      return child.pid
    },
    backendSecret: secrets.get('BACKEND_CLIENT_SECRET') ?? '',
    secrets,
    vars,
    output: () => written,
    stop,
    async restart() {
      await stopProcess(child)
      child = await start()
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** The repository's documents in a folder of their own, changed. */
async function otherDocuments(folder: string, changes: Pick<StartOptions, 'policy' | 'service'>): Promise<string> {
  const to = join(folder, 'config')
  await mkdir(to)
  for (const name of ['service', 'policy'] as const) {
    const text = await readFile(join(ROOT, `config/${name}.yaml`), 'utf8')
    await writeFile(join(to, `${name}.yaml`), changes[name]?.(text) ?? text)
  }
  return to
}

async function startProcess(args: readonly string[], heard: (text: string) => void): Promise<ChildProcess> {
  // it ends by itself when this process is gone, however that came about
  const child = spawn(process.execPath, [join(ROOT, 'scripts/dev.ts'), ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      heard(text)
      said += text
      if (/^sluis-edge is ready: /m.test(said)) resolve()
    })
  }
  child.on('exit', (code) => reject(new Error(`the issuer ended with ${code} before it was ready:\n${said}`)))
  const timer = setTimeout(() => reject(new Error(`the issuer was not ready in ${START / 1000} s:\n${said}`)), START)
  try {
    await promise
    return child
  } catch (error) {
    await stopProcess(child)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const force = setTimeout(() => child.kill('SIGKILL'), STOP)
  child.kill('SIGTERM')
  await ended
  clearTimeout(force)
}
