import { modules } from '../src/ports/layout5.ts'
import { CommandError, checkRegion, type Flags, instanceOf, readFlags, runAsProcess, someOf, textOf } from './aws/command.ts'
import type { Place } from './iam/place.ts'
import { type NamedPolicy, policiesOf, roles } from './iam/roles.ts'

const USAGE = `npm run --silent iam -- --instance acme --account 111122223333 [options]
Prints the least that the Worker's credentials need, as IAM policies on standard output, and what there is to know about them on
standard error. It asks nobody and changes nothing.
  --instance NAME       INSTANCE in the environment
  --account NUMBER      the AWS account
  --region REGION       of tables, parameters and keys (AWS_REGION in the environment)
  --role NAME,...       issuer, controllers, backup, restore: those a Worker of this ROLE has (all)
  --module NAME,...     only the credentials of these modules
  --key KEY             the KMS key that seals signing keys: alias, id or ARN (alias/sluis-<instance>)
  --parameter-key KEY   the KMS key of the parameters, where they have one of their own
  --bucket NAME         the S3 bucket of reports, caches and backups
  --bucket-key KEY      the KMS key of its objects, where they have one of their own
  --prefix TEXT         what stands before every object's name in it
  --policy NAME         one document alone, for aws iam create-policy --policy-document
  --dry-run             changes nothing here: nothing is ever changed`

const FLAGS: Flags = {
  instance: { type: 'string' },
  account: { type: 'string' },
  region: { type: 'string' },
  role: { type: 'string' },
  module: { type: 'string' },
  key: { type: 'string' },
  'parameter-key': { type: 'string' },
  bucket: { type: 'string' },
  'bucket-key': { type: 'string' },
  prefix: { type: 'string' },
  policy: { type: 'string' },
  'dry-run': { type: 'boolean' },
}

/** The command, less the process: the policies on standard output, and what there is to know on standard error. @throws CommandError */
export function iam(args: readonly string[], environment: NodeJS.ProcessEnv): { stdout: string; stderr: string } {
  const flags = readFlags(args, FLAGS, USAGE)
  const place = placeOf(flags, environment)
  const wanted = someOf(modules, flags, 'module')
  const policies = someOf(roles, flags, 'role')
    .flatMap((role) => policiesOf(place, role))
    .filter(({ module }) => wanted.includes(module))
  return { stdout: `${JSON.stringify(chosen(policies, textOf(flags, 'policy')), null, 2)}\n`, stderr: notes(place, policies) }
}

function placeOf(flags: ReadonlyMap<string, string | true>, environment: NodeJS.ProcessEnv): Place {
  const instance = instanceOf(flags, environment)
  const account = textOf(flags, 'account')
  if (!/^\d{12}$/.test(account ?? ''))
    throw new CommandError('--account is the twelve digits of the AWS account: aws sts get-caller-identity prints them')
  const region = textOf(flags, 'region') ?? environment.AWS_REGION
  if (region === undefined) throw new CommandError('in which region? --region eu-west-1, or AWS_REGION in the environment')
  return {
    instance,
    region: checkRegion(region),
    account: account ?? '',
    key: checkKey('key', textOf(flags, 'key') ?? `alias/sluis-${instance}`) ?? '',
    parameterKey: checkKey('parameter-key', textOf(flags, 'parameter-key')),
    bucket: checkBucket(textOf(flags, 'bucket')),
    bucketKey: checkKey('bucket-key', textOf(flags, 'bucket-key')),
    prefix: checkPrefix(textOf(flags, 'prefix')),
  }
}

function checkKey(flag: string, key: string | undefined): string | undefined {
  if (key === undefined || /^(?:alias\/(?!aws\/)[\w/-]+|arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+|(?:mrk-)?[0-9a-f-]{32,36})$/.test(key))
    return key
  throw new CommandError(
    `--${flag} ${key} is no KMS key: an alias like alias/sluis-acme (not one of AWS's own), a key's id, or a key's ARN`,
  )
}

function checkBucket(bucket: string | undefined): string | undefined {
  if (bucket === undefined || /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) return bucket
  throw new CommandError(`--bucket ${bucket} is no name of a bucket`)
}

/** As the Blob adapter has it, and without what a policy would read as a pattern. */
function checkPrefix(prefix: string | undefined): string | undefined {
  if (prefix !== undefined && !/^[\w./-]+$/.test(prefix)) throw new CommandError(`--prefix ${prefix} is letters, digits and . _ - /`)
  return prefix?.replace(/^\/+|\/+$/g, '')
}

/** All policies by name, or one alone. */
function chosen(policies: readonly NamedPolicy[], name: string | undefined): object {
  const byName = Object.fromEntries(policies.map((policy) => [policy.name, policy.document]))
  if (name === undefined) return byName
  const document = byName[name]
  if (document === undefined)
    throw new CommandError(`--policy ${name}: there is none. There are: ${Object.keys(byName).join(', ') || 'none'}`)
  return document
}

/** What a policy can't say of itself. */
function notes(place: Place, policies: readonly NamedPolicy[]): string {
  const has = (role: NamedPolicy['role']) => policies.some((policy) => policy.role === role)
  const split = policies.filter(({ name }) => /-\d+$/.test(name)).map(({ name }) => name)
  const lines = [
    ...policies.map(
      ({ name, module, role }) =>
        `${name}: attach it to the user of AWS_${module.toUpperCase()}_ACCESS_KEY_ID in the Worker of ROLE ${role}`,
    ),
    ...(split.length > 0 ? [`${split.join(', ')}: over the 6,144 characters of a managed policy, so in parts: attach every one`] : []),
    ...(has('issuer')
      ? ['No Scan for the issuer: sessions by client or of everybody are one kind of record, and a Query lists them.']
      : []),
    ...(has('issuer')
      ? ['The issuer lists internal/oidc/clients and external/oidc only: who may list a directory gets every value in it, denied or not.']
      : []),
    ...(has('backup') && place.parameterKey === undefined
      ? [
          'Who lists internal/oidc, as a backup must, can read the passwords there: only a KMS key for the parameters (--parameter-key) keeps them apart.',
        ]
      : []),
    ...(place.bucket === undefined
      ? ['Nothing of S3: no --bucket was given.']
      : ['The names of all objects in the bucket can be listed: give an instance a bucket of its own.']),
  ]
  return `${lines.join('\n')}\n`
}

if (import.meta.main) {
  await runAsProcess(() => {
    const { stdout, stderr } = iam(process.argv.slice(2), process.env)
    process.stderr.write(stderr)
    process.stdout.write(stdout)
  })
}
