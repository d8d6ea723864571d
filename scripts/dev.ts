import { createServer } from 'node:net'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Documents } from '../src/config/documents.ts'
import { BuildError, build, ROOT } from './build.ts'
import { type DeliveredSecret, deliveredSecrets, type PutSecret, putSecretsOnce } from './dev/client-secrets.ts'
import { everyMinute } from './dev/cron.ts'
import type { LocalAws } from './dev/local-aws.ts'
import { wranglerConfigFor } from './dev/other-documents.ts'
import { makeRecoveryAccount } from './dev/recovery-account.ts'
import { type WranglerDev, wranglerDev } from './dev/wrangler-dev.ts'
import { type DevVars, ensureDevVars } from './dev-vars.ts'
import { callOps, OpsError, type OpsTarget } from './ops-client.ts'

const USAGE = `npm start -- [options]
  --port N          listen on 127.0.0.1:N; the issuer is then http://localhost:N (8787)
  --persist-to DIR  keep the records in DIR (.wrangler/state)
  --vars FILE       read secrets from FILE, and add those it lacks (.dev.vars)
  --config DIR      the folder of service.yaml and policy.yaml (config)
  --no-cron         leave the scheduled work alone
  --aws             keep the records in DynamoDB, SSM and KMS, in an emulator of them that is gone when this stops (npm run start:aws)`

const CONFIG = join(ROOT, 'config')
const VARS = join(ROOT, '.dev.vars')

const START = 30_000 // ms: a warm start takes about two seconds, a cold one on a busy machine ten

interface Options {
  port: number
  persistTo: string
  vars: string
  config: string
  cron: boolean
  aws: boolean
}

/** What keeps `npm start` from starting, in words for the person who typed it. */
class StartError extends Error {}

await main().catch((error: unknown) => {
  if (!(error instanceof StartError || error instanceof BuildError)) throw error
  console.error(error.message)
  process.exit(1)
})

/** Runs the issuer on this computer until it is told to stop. */
async function main(): Promise<void> {
  const options = readOptions()
  await refuseTakenPort(options.port)
  const { documents, warnings } = await build(ROOT, options.config)
  for (const warning of warnings) console.warn(`warning: ${warning}`)

  const { service, policy } = documents
  const secrets = deliveredSecrets(policy)
  const vars = await ensureDevVars(options.vars, ['SEAL_KEY', 'OPS_KEY', ...secrets.map(({ variable }) => variable)])
  const issuer = issuerOn(options.port, service.issuer)
  const aws = options.aws ? await localAws(service, secrets, vars) : null
  const elsewhere = options.config === CONFIG ? {} : { config: await wranglerConfigFor(options.config, options.persistTo) }
  const { config: _, ...own } = options
  const wrangler = wranglerDev({
    ...own,
    ...elsewhere,
    ...(aws === null ? {} : { environment: 'aws' }),
    variables: { ...(issuer === service.issuer ? {} : { ISSUER: issuer }), ...aws?.variables },
  })
  stopWhenTold(wrangler)
  void wrangler.ended.then((asked) => {
    if (asked) return
    console.error(`${wrangler.said()}wrangler has ended, and with it the service`)
    process.exit(1)
  })

  await ready(issuer, wrangler)
  wrangler.show()
  const target = { issuer, instance: service.instance, opsKey: vars.get('OPS_KEY') ?? '' }
  if (aws === null) await putSecrets(secrets, vars, target, options)
  const recovery = aws === null && service.recovery !== undefined ? await recoveryPassword(target) : (aws?.recoveryPassword ?? null)
  if (options.cron) everyMinute(`http://127.0.0.1:${options.port}`, (message) => console.error(`warning: ${message}`))
  console.log(whereToGo(issuer, documents, { secrets, recovery, options, aws }))
}

async function putSecrets(secrets: readonly DeliveredSecret[], vars: DevVars, target: OpsTarget, { persistTo }: Options): Promise<void> {
  const put: PutSecret = (path, value) => callOps(target, { command: 'secret.put', path, value })
  try {
    await putSecretsOnce(secrets, vars, put, persistTo)
  } catch (error) {
    if (!(error instanceof OpsError)) throw error
    console.error(`warning: the development secrets of clients were not put: ${error.message}`)
  }
}

async function recoveryPassword(target: OpsTarget): Promise<string | null> {
  try {
    return await makeRecoveryAccount(target)
  } catch (error) {
    if (!(error instanceof OpsError)) throw error
    console.error(`warning: the recovery account was not made: ${error.message}`)
    return null
  }
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '8787' },
        'persist-to': { type: 'string', default: join(ROOT, '.wrangler/state') },
        vars: { type: 'string', default: VARS },
        config: { type: 'string', default: CONFIG },
        cron: { type: 'boolean', default: true },
        aws: { type: 'boolean', default: false },
      },
      allowNegative: true,
    })
    const port = Number(values.port)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new StartError(`--port ${values.port} is no port\n\n${USAGE}`)
    return {
      port,
      persistTo: resolve(values['persist-to']),
      vars: resolve(values.vars),
      config: resolve(values.config),
      cron: values.cron,
      aws: values.aws,
    }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

async function refuseTakenPort(port: number): Promise<void> {
  const server = createServer()
  const { promise, resolve: listening, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, '127.0.0.1', listening)
  try {
    await promise
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error && error.code === 'EADDRINUSE' ? 'is taken by another program' : `can't be used: ${error}`
    throw new StartError(`port ${port} of 127.0.0.1 ${reason}. Another one: npm start -- --port ${port + 1}`)
  }
  await new Promise((closed) => server.close(closed))
}

/** Loaded only when asked for: `npm start` need not wait for an emulator it doesn't use. */
async function localAws(...of: Parameters<typeof import('./dev/local-aws.ts').startLocalAws>): Promise<LocalAws> {
  const { startLocalAws } = await import('./dev/local-aws.ts')
  return startLocalAws(...of)
}

/** The document's own issuer where it is this port, else `localhost` on it: people reach no other address of this computer. */
function issuerOn(port: number, issuer: string): string {
  const own = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${port}`)
  return own.includes(issuer) ? issuer : `http://localhost:${port}`
}

/** Ends everything when it is told to, or when whoever started it is gone: npm passes a signal on to a shell, which keeps it to itself. */
function stopWhenTold(wrangler: WranglerDev): void {
  let stopping = false
  const stop = () => {
    if (!stopping) void wrangler.stop().then(() => process.exit(0))
    stopping = true
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop()
  }, 250)
}

async function ready(issuer: string, wrangler: WranglerDev): Promise<void> {
  const until = Date.now() + START
  let last = 'nothing'
  while (Date.now() < until && !wrangler.said().includes('[ERROR]')) {
    const response = await fetch(`${issuer}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
    await response?.body?.cancel()
    if (response?.status === 200) return
    if (response !== null) last = `status ${response.status}`
    await new Promise((wait) => setTimeout(wait, 50))
  }
  await wrangler.stop()
  throw new StartError(`${wrangler.said()}${issuer}/healthz did not answer 200 (last: ${last})`)
}

interface Started {
  secrets: readonly DeliveredSecret[]
  /** Of an account that was made just now. */
  recovery: string | null
  options: Options
  aws: LocalAws | null
}

function whereToGo(issuer: string, { service, policy }: Documents, { secrets, recovery, options, aws }: Started): string {
  const people = service.directory.people.filter((person) => !person.suspended).map((person) => person.email)
  const another = aws === null ? `; another: npm run verifier -- recovery${asksThisOne(issuer, service.issuer, options)}` : ''
  const lines = [
    ['start page', `${issuer}/`],
    ['discovery', `${issuer}/.well-known/openid-configuration`],
    ...(service.signin.picker ? [['sign in as', people.join(', ')]] : []),
    ...(recovery === null ? [] : [['recovery password', `${recovery} (shown this once${another})`]]),
    ['clients', Object.keys(policy.clients).join(', ')],
    ...secrets.map(({ client, variable }) => [`secret of ${client}`, `${variable} in ${relative(process.cwd(), options.vars)}`]),
    ['documents', `service.yaml and policy.yaml in ${relative(process.cwd(), options.config) || '.'} (start again after a change)`],
    ['to read', 'README.md, docs/'],
    aws === null
      ? ['every record', `${issuer}/cdn-cgi/local/explorer, to whoever reaches this port`]
      : ['DynamoDB, SSM, KMS', `${aws.emulator.url}, gone when this stops; ${aws.emulator.url}/_emulator/requests counts the calls`],
  ]
  const width = Math.max(...lines.map(([name = '']) => name.length))
  return [`\nsluis-edge is ready: ${issuer}\n`, ...lines.map(([name = '', value]) => `  ${name.padEnd(width)}  ${value}`), ''].join('\n')
}

/** What a command that asks an issuer has to be told to ask this one; nothing when it would anyway. */
function asksThisOne(issuer: string, usual: string, { vars }: Options): string {
  const where = issuer === usual ? '' : ` --issuer ${issuer}`
  return vars === VARS ? where : `${where} --vars ${relative(process.cwd(), vars)}`
}
