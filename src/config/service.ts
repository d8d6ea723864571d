import * as z from 'zod'
import { DocumentError, field, type Problem, part, shapeProblems } from './problems.ts'
import { providerProblems, signinProviders } from './signin-providers.ts'
import {
  awsRegion,
  bucketName,
  duration,
  email,
  instanceName,
  isLoopbackHost,
  issuerOrigin,
  keyAlias,
  locationHint,
  type SigningAlg,
  signingAlg,
  text,
} from './values.ts'
import { verifyOnlyKey, verifyOnlyProblems } from './verify-only.ts'

const person = z.strictObject({
  email,
  given_name: text(100).optional(),
  family_name: text(100).optional(),
  /** The directory groups the person is in. */
  groups: z.array(email).default([]),
  suspended: z.boolean().default(false),
})

const keyring = z.strictObject({
  /** The ring that signs for whoever pins no algorithm. */
  default: signingAlg.default('ES256'),
  rings: z.array(signingAlg).default(['ES256', 'RS256']),
  rotate_every: duration.default(86_400),
  /** seconds: how long a key is published before it signs. */
  prepublish: duration.default(900),
  /** Public keys published and accepted beside the rings until their time, of an issuer this one takes over from. */
  verify_only: z.array(verifyOnlyKey).default([]),
})

const signin = z.strictObject({
  picker: z.boolean().default(false),
  providers: signinProviders.default({}),
  /** The account of OpenID certification: it signs in by a password, as `conformance`. */
  conformance: z.boolean().default(false),
})

/** Where the records are kept, of the adapters that have each (docs/design.md, "Adapters"). */
export const preset = z.enum(['embedded', 'aws'])

const aws = z.strictObject({
  /** Of the tables, the parameters and the key. */
  region: awsRegion.optional(),
  /** The KMS key that seals signing keys; `alias/sluis-<instance>` when absent. */
  key: keyAlias.optional(),
  /** The KMS key of the parameters; the account's own for SSM when absent. */
  parameter_key: keyAlias.optional(),
  /** The S3 bucket of reports, audit events and caches; `sluis-<instance>` when absent. */
  bucket: bucketName.optional(),
  /** The KMS key of its objects, where they have one of their own. */
  bucket_key: keyAlias.optional(),
})

/** They name people, request logs don't. `log`: lines marked `"audit":true`. `blob`: objects in the bucket. */
const auditSink = z.enum(['log', 'blob'])

const audit = z
  .union([z.literal('none'), auditSink, z.array(auditSink).min(1, 'names no sink')], {
    error: 'is neither none, log, blob nor a list of log and blob',
  })
  .refine((sinks) => !Array.isArray(sinks) || new Set(sinks).size === sinks.length, { error: 'names a sink twice' })
  .transform((sinks) => (sinks === 'none' ? [] : [sinks].flat()))

/** The service document: what this installation is. Secrets are never in it: they are addresses. */
export const serviceSchema = z.strictObject({
  version: z.literal(1),
  instance: instanceName,
  issuer: issuerOrigin,
  /** What people read at the top of every page. */
  name: text(80),
  preset: preset.default('embedded'),
  aws: aws.prefault({}),
  plan: z.enum(['free', 'paid']).default('paid'),
  location: z.strictObject({ hint: locationHint }).optional(),
  directory: z.strictObject({
    /** `local`: this list. `google`: the Workspaces that are connected (npm run workspace). */
    kind: z.enum(['local', 'google']),
    people: z.array(person).default([]),
  }),
  signin,
  /** The recovery sign-in. `generation` goes up by one to bring it back after it was switched off. Absent: there is none. */
  recovery: z.strictObject({ generation: z.int('is not a whole number').min(1, 'is below 1') }).optional(),
  keyring: keyring.prefault({}),
  /** Where audit events go: nowhere, or to one sink, or to several. */
  audit: audit.default([]),
})

export type Service = z.output<typeof serviceSchema>
export type Person = Service['directory']['people'][number]

/** The variables of an environment that stand in for fields of the service document. */
export interface ServiceVars {
  ISSUER?: string | undefined
  INSTANCE?: string | undefined
  PRESET?: string | undefined
  AWS_REGION?: string | undefined
}

/** Everything wrong with a service document as it was written; empty when `serviceSchema` takes it and its fields agree with each other. */
export function serviceProblems(document: unknown): Problem[] {
  return [
    ...shapeProblems(serviceSchema, document),
    ...developmentOnly(document),
    ...providerProblems(document),
    ...directoryProblems(document),
    ...onePersonAnAddress(field(field(document, 'directory'), 'people')),
    ...ringsAndRotation(field(document, 'keyring')),
    ...verifyOnlyProblems(field(field(document, 'keyring'), 'verify_only')),
  ]
}

/** The algorithms a service document as written has rings for, also when it is wrong elsewhere; undefined when that can't be told. */
export function ringsOf(document: unknown): SigningAlg[] | undefined {
  return part(keyring.pick({ rings: true }).strip(), field(document, 'keyring') ?? {})?.rings
}

/**
 * The document with `ISSUER`, `INSTANCE`, `PRESET` and `AWS_REGION` in place of its own, held to the same rules.
 *
 * @throws DocumentError naming the variable, or the field that can't stand beside it
 */
export function withVars(service: Service, vars: ServiceVars): Service {
  const { ISSUER = service.issuer, INSTANCE = service.instance, PRESET = service.preset, AWS_REGION = service.aws.region } = vars
  const given = { ISSUER, INSTANCE, PRESET, AWS_REGION }
  const read = variables.safeParse(given)
  const document = { ...service, issuer: ISSUER }
  const problems = [...shapeProblems(variables, given), ...developmentOnly(document), ...providerProblems(document)]
  if (!read.success || problems.length > 0) throw new DocumentError(problems)
  const { data } = read
  const replaced = { ...service, issuer: data.ISSUER, instance: data.INSTANCE, preset: data.PRESET }
  return data.AWS_REGION === undefined ? replaced : { ...replaced, aws: { ...service.aws, region: data.AWS_REGION } }
}

const variables = z
  .object({ ISSUER: issuerOrigin, INSTANCE: instanceName, PRESET: preset, AWS_REGION: awsRegion.optional() })
  .refine((vars) => vars.PRESET !== 'aws' || vars.AWS_REGION !== undefined, {
    path: ['AWS_REGION'],
    message: 'is missing, and so is aws.region in the service document: preset aws needs one',
  })

// The picker signs anybody in as anybody, and the local directory is a list in a file: both are for one's own computer.
function developmentOnly(document: unknown): Problem[] {
  const issuer = part(issuerOrigin, field(document, 'issuer'))
  if (issuer === undefined || isLoopbackHost(new URL(issuer).hostname)) return []
  const message = `is for an issuer on localhost, 127.0.0.1 or [::1] only, and this one is ${issuer}`
  const problems: Problem[] = []
  if (field(field(document, 'signin'), 'picker') === true) problems.push({ path: ['signin', 'picker'], message })
  if (field(field(document, 'directory'), 'kind') === 'local') problems.push({ path: ['directory', 'kind'], message: `local ${message}` })
  return problems
}

function directoryProblems(document: unknown): Problem[] {
  const directory = field(document, 'directory')
  const [kind, people] = [field(directory, 'kind'), field(directory, 'people')]
  const problems: Problem[] = []
  if (kind === 'local' && people === undefined)
    problems.push({ path: ['directory', 'people'], message: 'is missing: a local directory is this list' })
  if (kind === 'google' && people !== undefined)
    problems.push({ path: ['directory', 'people'], message: 'is of a local directory, and this one is google' })
  if (kind === 'google' && field(field(document, 'signin'), 'picker') === true)
    problems.push({ path: ['signin', 'picker'], message: 'picks from a local directory, and this one is google' })
  return problems
}

function onePersonAnAddress(people: unknown): Problem[] {
  if (!Array.isArray(people)) return []
  const seen = new Map<string, number>()
  return people.flatMap((row, at) => {
    const address = part(email, field(row, 'email'))
    if (address === undefined) return []
    const first = seen.get(address)
    if (first === undefined) seen.set(address, at)
    const path = ['directory', 'people', at, 'email']
    return first === undefined ? [] : [{ path, message: `is the address of people[${first}] too (case does not tell two people apart)` }]
  })
}

const TICK = 300 // s: the keyring's tick (docs/design.md, "Ticks"); nothing about keys changes in between
const WEEK = 604_800 // s: how long a signing key is used at most

function ringsAndRotation(document: unknown): Problem[] {
  const rings = part(keyring.shape.rings, field(document, 'rings'))
  const main = part(keyring.shape.default, field(document, 'default'))
  const rotate = part(keyring.shape.rotate_every, field(document, 'rotate_every')) ?? Number.NaN // malformed: compares with nothing
  const prepublish = part(keyring.shape.prepublish, field(document, 'prepublish')) ?? Number.NaN
  const found: [string, boolean, string][] = [
    ['rings', rings?.length === 0, 'names no ring'],
    ['rings', rings !== undefined && new Set(rings).size < rings.length, 'names a ring twice'],
    ['default', main !== undefined && (rings?.length ?? 0) > 0 && !rings?.includes(main), `is ${main}, which is none of the rings`],
    ['prepublish', prepublish < TICK, 'is under 5m, the period of the tick that publishes keys'],
    ['rotate_every', rotate <= prepublish, 'is not longer than prepublish: a key would be due before it may sign'],
    ['rotate_every', rotate > WEEK, 'is over 168h'],
    ['rotate_every', rotate % TICK > 0, 'is no multiple of 5m, the period of the tick that makes keys'],
  ]
  // A field left out is a default, and those agree: what can't stand beside one is what was written.
  return found.flatMap(([key, wrong, message]) => {
    if (!wrong) return []
    return [field(document, key) === undefined ? { path: ['keyring'], message: `${key} ${message}` } : { path: ['keyring', key], message }]
  })
}
