import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import type { Documents } from '../src/config/documents.ts'
import { utf8 } from '../src/crypto/bytes.ts'
import { SECRET_VALUE_LIMIT } from '../src/ports/secrets.ts'
import { BuildError, build, ROOT } from './build.ts'
import { parseDevVars } from './dev-vars.ts'
import { callOps, OpsError } from './ops-client.ts'

const USAGE = `npm run seed -- internal/oidc/clients/<id> [options]
Puts a client's secret where the issuer reads it. The secret is asked for, or read from standard input. Doing it again with the same
secret changes nothing a client sees.
  --generate        draw one (32 random bytes, base64url) and print it on standard output
  --dry-run         say what would be done
  --issuer URL      the running issuer (ISSUER in the environment, else that of config/service.yaml)
  --vars FILE       where OPS_KEY is read from, unless the environment has one (.dev.vars)`

/** What keeps a secret from being put, in words for the person who typed it. */
class SeedError extends Error {}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    if (!(error instanceof SeedError || error instanceof OpsError || error instanceof BuildError)) throw error
    console.error(error.message)
    process.exit(1)
  })
}

async function main(): Promise<void> {
  const { path, generate, dryRun, issuer, vars } = readOptions()
  const { documents } = await build()
  refuseUnknown(path, documents)
  const target = {
    issuer: issuer ?? documents.service.issuer,
    instance: process.env.INSTANCE ?? documents.service.instance,
    opsKey: await opsKey(vars),
  }
  const secret = await obtain(path, generate)

  const what = `${path} of instance ${target.instance} at ${target.issuer}`
  if (dryRun) return console.error(`would put ${Buffer.byteLength(secret)} bytes at ${what}`)
  const { version } = await callOps(target, { command: 'secret.put', path, value: utf8(secret) })
  console.error(`put at ${what}, version ${version}`)
  if (generate) console.log(secret)
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        generate: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        issuer: { type: 'string' },
        vars: { type: 'string', default: join(ROOT, '.dev.vars') },
      },
    })
    const [path, ...rest] = positionals
    if (path === undefined || rest.length > 0) throw new SeedError(USAGE)
    const issuer = values.issuer ?? process.env.ISSUER
    return { path, generate: values.generate, dryRun: values['dry-run'], issuer: issuer?.replace(/\/$/, ''), vars: resolve(values.vars) }
  } catch (error) {
    if (error instanceof SeedError) throw error
    throw new SeedError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

/** A secret nobody reads is a typing error. */
function refuseUnknown(path: string, { policy }: Documents): void {
  const known = Object.values(policy.clients).flatMap(({ secret }) => (secret?.startsWith('internal/') ? [secret] : []))
  if (known.includes(path)) return
  throw new SeedError(`config/policy.yaml names no secret at ${path}. It names: ${known.join(', ') || 'none'}`)
}

async function opsKey(file: string): Promise<string> {
  const key = process.env.OPS_KEY ?? parseDevVars(await readFile(file, 'utf8').catch(() => '')).get('OPS_KEY')
  if (key === undefined) throw new SeedError(`there is no OPS_KEY, in the environment or in ${file}`)
  return key
}

async function obtain(path: string, generate: boolean): Promise<string> {
  if (generate) return randomBytes(32).toString('base64url')
  const typed = process.stdin.isTTY ? await ask(`secret for ${path} (not shown): `) : await readAll()
  const secret = typed.replace(/\r?\n$/, '')
  if (secret.trim() === '') throw new SeedError('the secret is empty')
  if (secret !== secret.trim() || /[\r\n]/.test(secret))
    throw new SeedError('the secret begins or ends with a space, or has more than one line')
  if (Buffer.byteLength(secret) > SECRET_VALUE_LIMIT) throw new SeedError(`the secret is longer than ${SECRET_VALUE_LIMIT} bytes`)
  return secret
}

async function readAll(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return text
}

async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true })
  const { promise, resolve: answer, reject } = Promise.withResolvers<string>()
  reader.once('line', answer).once('SIGINT', () => reject(new SeedError('\nleft as it was')))
  try {
    return await promise
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}
