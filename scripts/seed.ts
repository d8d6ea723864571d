import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Documents } from '../src/config/documents.ts'
import { type Bytes, utf8 } from '../src/crypto/bytes.ts'
import { secretAddress } from '../src/ports/keys.ts'
import { secretPath } from '../src/ports/layout5.ts'
import { SECRET_VALUE_LIMIT } from '../src/ports/secrets.ts'
import { clientSecretPath } from '../src/records/client-secret.ts'
import { documents as secretDocuments } from '../src/records/external-documents.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { makeStateSecret, openParameters, putUnlessSame } from './aws/parameters.ts'
import { AWS_USAGE, awsOptions, awsTarget, isForAws } from './aws/target.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run seed -- <address> [options]
Puts a client's secret where the issuer reads it, at the address its row in config/policy.yaml names. The secret is asked for, or read from
standard input. Doing it again with the same secret changes nothing a client sees. What a provider of signin.providers gave you goes the same
way to internal/oidc/signin/<provider>/client-id and internal/oidc/signin/<provider>/client-secret.
  --generate     draw one (32 random bytes, base64url) and print it on standard output
  --dry-run      say what would be done
On Cloudflare alone (preset embedded) the running issuer is asked:
${TARGET_USAGE}
On AWS (preset aws in config/service.yaml or PRESET, or --aws) it is put into SSM, with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
AWS_SESSION_TOKEN of the environment:
${AWS_USAGE}
  --state-secret   make the state secret (32 random bytes) instead, when there is none`

const FLAGS = {
  generate: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  'state-secret': { type: 'boolean', default: false },
  ...targetOptions,
  ...awsOptions,
} as const

const STATE_SECRET = 'internal/oidc/state-secret'

if (import.meta.main) await runAsProcess(main)

async function main(): Promise<void> {
  try {
    const options = readOptions()
    const { documents } = await build()
    const isAws = isForAws(options, documents)
    if (options.stateSecret) await seedStateSecret(isAws, options, documents)
    else await seedClient(isAws, options, documents)
  } catch (error) {
    throw forPeople(error)
  }
}

async function seedClient(isAws: boolean, options: Options, documents: Documents): Promise<void> {
  const { path, generate, dryRun } = options
  const client = clientAt(path, documents)
  const destination = isAws ? onAws(options, documents) : await onIssuer(options, documents)
  const secret = await obtain(path, generate)
  const value = clientValue(path, client, secret)
  if (value.length > SECRET_VALUE_LIMIT) throw new CommandError(`the secret is longer than ${SECRET_VALUE_LIMIT} bytes`)

  const what = destination.nameOf(path)
  if (dryRun) return console.error(`would put ${Buffer.byteLength(secret)} bytes at ${what}`)
  const { written, version } = await destination.put(path, value)
  console.error(written ? `put at ${what}, version ${version}` : `is at ${what} already, version ${version}: nothing to do`)
  if (generate) console.log(secret)
}

/** What stands at a client's address: the secret itself, or below `external/` the document that others read too. */
export function clientValue(path: string, client: string, secret: string): Bytes {
  if (!path.startsWith('external/')) return utf8(secret)
  return secretDocuments.oidc.encode({ 'client-id': client, 'client-secret': secret })
}

async function seedStateSecret(isAws: boolean, options: Options, documents: Documents): Promise<void> {
  if (!isAws) throw new CommandError('--state-secret is for AWS: on Cloudflare alone the first start makes it')
  const { secrets, nameOf } = onAws(options, documents)
  const what = nameOf(STATE_SECRET)
  if (options.dryRun) return console.error(`would make 32 random bytes at ${what}, when there is none`)
  console.error((await makeStateSecret(secrets)) ? `made at ${what}` : `is at ${what} already: left as it is`)
}

/** Where secrets go. */
interface Destination {
  /** In words. */
  nameOf: (path: string) => string
  put: (path: string, value: Bytes) => Promise<{ written: boolean; version: unknown }>
}

/** The running issuer, by its operator's route. */
async function onIssuer(options: Options, documents: Documents): Promise<Destination> {
  const target = await opsTarget(options, documents)
  return {
    nameOf: (path) => `${path} of instance ${target.instance} at ${target.issuer}`,
    async put(path, value) {
      const { version } = await callOps(target, { command: 'secret.put', path, value })
      return { written: true, version }
    },
  }
}

function onAws(options: Options, documents: Documents) {
  const { instance, region } = awsTarget(options, documents)
  const secrets = openParameters({ instance, region, keyId: documents.service.aws.parameter_key }, process.env)
  return {
    secrets,
    nameOf: (path: string) => `parameter ${secretPath(path, instance)} in ${region}`,
    put: (path: string, value: Bytes) => putUnlessSame(secrets, path, value),
  }
}

interface Options {
  /** '' with --state-secret. */
  path: string
  generate: boolean
  dryRun: boolean
  aws: boolean
  region: string | undefined
  stateSecret: boolean
  issuer: string | undefined
  vars: string
}

function readOptions(): Options {
  const { values, positionals } = readArguments(process.argv.slice(2), FLAGS, USAGE)
  const [path = '', ...rest] = positionals
  const stateSecret = values['state-secret']
  if (rest.length > 0 || (path === '') !== stateSecret) throw new CommandError(USAGE)
  const { generate, 'dry-run': dryRun, aws, region, issuer, vars } = values
  return { path, generate, dryRun, aws, region, stateSecret, issuer, vars }
}

/** The client whose secret is at the address, or the provider it is from. A secret nobody reads is a typing error. */
export function clientAt(path: string, { policy, service }: Documents): string {
  const known = Object.entries(policy.clients).flatMap(([id, client]): [string, string][] => {
    const address = clientSecretPath(id, client)
    return address === null ? [] : [[address, id]]
  })
  const providers = Object.keys(service.signin.providers).flatMap((id): [string, string][] =>
    [secretAddress.signInClientId(id), secretAddress.signInClientSecret(id)].map((address) => [address, id]),
  )
  const client = new Map([...known, ...providers]).get(path)
  if (client !== undefined) return client
  const [addresses, ofProviders] = [known, providers].map((rows) => rows.map(([address]) => address).join(', '))
  const more = ofProviders ? `; config/service.yaml: ${ofProviders}` : ''
  throw new CommandError(`config/policy.yaml names no secret at ${path}. It names: ${addresses || 'none'}${more}`)
}

async function obtain(path: string, generate: boolean): Promise<string> {
  if (generate && path.startsWith('internal/oidc/signin/')) throw new CommandError('a provider draws its own: paste what it gave you')
  if (generate) return randomBytes(32).toString('base64url')
  const typed = process.stdin.isTTY ? await ask(`secret for ${path} (not shown): `) : await readAll()
  const secret = typed.replace(/\r?\n$/, '')
  if (secret.trim() === '') throw new CommandError('the secret is empty')
  if (secret !== secret.trim() || /[\r\n]/.test(secret))
    throw new CommandError('the secret begins or ends with a space, or has more than one line')
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
  reader.once('line', answer).once('SIGINT', () => reject(new CommandError('\nleft as it was')))
  try {
    return await promise
  } finally {
    reader.close()
    process.stderr.write('\n')
  }
}
