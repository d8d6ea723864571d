import { randomInt } from 'node:crypto'
import type { Documents } from '../src/config/documents.ts'
import type { Bytes } from '../src/crypto/bytes.ts'
import { passwordSecret, SALT_LENGTH } from '../src/crypto/srp/password.ts'
import { signInSrp, verifierFrom } from '../src/crypto/srp/srp.ts'
import { secretAddress } from '../src/ports/keys.ts'
import { secretPath } from '../src/ports/layout5.ts'
import { writeVerifier } from '../src/records/verifier.ts'
import { CommandError, readArguments, runAsProcess } from './aws/command.ts'
import { openParameters } from './aws/parameters.ts'
import { AWS_USAGE, awsOptions, awsTarget, isForAws } from './aws/target.ts'
import { build } from './build.ts'
import { callOps } from './ops-client.ts'
import { forPeople, opsTarget, TARGET_USAGE, targetOptions } from './ops-target.ts'

const USAGE = `npm run verifier -- recovery|conformance [options]
Draws a new password for the account, puts a verifier of it where the issuer reads it, and prints the password, this once, on standard output.
The issuer never sees it. The password before it is good until the issuer reads the verifier again: a minute at most.
  --dry-run      say what would be done
On Cloudflare alone (preset embedded) the running issuer is asked:
${TARGET_USAGE}
On AWS (preset aws in config/service.yaml or PRESET, or --aws) it is put into SSM, with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
AWS_SESSION_TOKEN of the environment:
${AWS_USAGE}`

const FLAGS = {
  ...targetOptions,
  'dry-run': { type: 'boolean', default: false },
  ...awsOptions,
} as const

/** Nothing that reads like another letter or digit: it is typed from paper, once in years. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789'

const LENGTH = 40 // characters: 230 bits, so that a stolen verifier is nothing to guess at

const ADDRESSES = { recovery: secretAddress.recoveryVerifier, conformance: secretAddress.conformanceVerifier }

type Account = keyof typeof ADDRESSES

if (import.meta.main) await runAsProcess(() => main(process.argv.slice(2)))

/** A new password, and the document that stands for it at an account's address. Whose it is, neither says. */
export async function makeVerifier(): Promise<{ password: string; document: Bytes }> {
  const password = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const salt = crypto.getRandomValues(new Uint8Array(SALT_LENGTH))
  const v = verifierFrom(await passwordSecret(password, salt), signInSrp)
  return { password, document: writeVerifier({ salt, v }) }
}

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  try {
    const { documents } = await build()
    const destination = isForAws(options, documents) ? onAws(options, documents) : await onIssuer(options, documents)
    await putVerifier(options, destination)
    if (!hasAccount(options.account, documents))
      console.error(`config/service.yaml has no ${options.account}: until it does, nobody signs in so`)
  } catch (error) {
    throw forPeople(error)
  }
}

/** The password is shown when its verifier is known to stand; where that is not known nobody has it, and another is drawn. */
async function putVerifier({ account, dryRun }: Options, { name, put }: Destination): Promise<void> {
  if (dryRun) return console.error(`would draw a password and put its verifier at ${name}`)
  const { password, document } = await makeVerifier()
  try {
    await put(document)
  } catch (error) {
    console.error('the password was thrown away: when what follows is put right, run this again')
    throw error
  }
  console.error(`put at ${name}. The password of ${account}, shown this once:`)
  console.log(password)
}

function hasAccount(account: Account, { service }: Documents): boolean {
  return account === 'recovery' ? service.recovery !== undefined : service.signin.conformance
}

/** Where a verifier goes: in words, and how. */
interface Destination {
  name: string
  put(document: Bytes): Promise<unknown>
}

async function onIssuer(options: Options, documents: Documents): Promise<Destination> {
  const target = await opsTarget(options, documents)
  const path = ADDRESSES[options.account]
  return {
    name: `${path} of instance ${target.instance} at ${target.issuer}`,
    put: (value) => callOps(target, { command: 'secret.put', path, value }),
  }
}

function onAws({ account, ...options }: Options, documents: Documents): Destination {
  const { instance, region } = awsTarget(options, documents)
  const secrets = openParameters({ instance, region, keyId: documents.service.aws.parameter_key }, process.env)
  return {
    name: `parameter ${secretPath(ADDRESSES[account], instance)} in ${region}`,
    put: (document) => secrets.put(ADDRESSES[account], document),
  }
}

interface Options {
  account: Account
  dryRun: boolean
  aws: boolean
  region: string | undefined
  issuer: string | undefined
  vars: string
}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = readArguments(args, FLAGS, USAGE)
  const [account, ...rest] = positionals
  if ((account !== 'recovery' && account !== 'conformance') || rest.length > 0) throw new CommandError(USAGE)
  const { 'dry-run': dryRun, aws, region, issuer, vars } = values
  return { account, dryRun, aws, region, issuer, vars }
}
