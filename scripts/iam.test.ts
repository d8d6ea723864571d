import { describe, expect, test } from 'vitest'
import { keys } from '../src/ports/keys.ts'
import { locatePrefix } from '../src/ports/layout5.ts'
import { rules, setRules } from '../src/ports/layout5-rules.ts'
import { decide } from '../test/aws-emulator/iam.ts'
import { documentsOf, POLICY_LIMIT, type PolicyDocument, type Statement } from './iam/policy.ts'
import { iam } from './iam.ts'

const BASE = ['--instance', 'acme', '--account', '111122223333', '--region', 'eu-west-1', '--bucket', 'acme-sluis']

/** The policies `npm run iam` prints, by name. */
function policies(...args: string[]): Record<string, PolicyDocument> {
  return JSON.parse(iam([...BASE, ...args], {}).stdout)
}

function issuerOf(...args: string[]): PolicyDocument {
  const { 'sluis-acme-issuer-oidc': policy } = policies('--role', 'issuer', ...args)
  if (policy === undefined) throw new Error('no policy of the issuer')
  return policy
}

const TABLE = 'arn:aws:dynamodb:eu-west-1:111122223333:table/sluis-acme-oidc'
const leading = (kind: string) => ({ 'dynamodb:LeadingKeys': [kind] })

describe("the issuer's policy", () => {
  const policy = issuerOf()

  test('writes every kind of its module and of its table, sets too, and no kind of another module', () => {
    for (const { module, kind, writer } of rules) {
      const isOurs = module === 'oidc' || module === null || module === 'by target'
      const isShared = rules.some(
        (rule) => rule.kind === kind && (rule.module === null || rule.module === 'by target' || rule.module === 'oidc'),
      )
      const wanted = writer === undefined && (isOurs || isShared)
      expect(decide(policy, 'dynamodb:PutItem', TABLE, leading(kind)), kind).toBe(wanted ? 'allowed' : 'not allowed')
    }
    for (const { kind } of setRules) expect(decide(policy, 'dynamodb:Query', TABLE, leading(kind)), kind).toBe('allowed')
  })

  test('reads the maintenance flag, and does nothing else with it', () => {
    expect(decide(policy, 'dynamodb:GetItem', TABLE, leading('maintenance'))).toBe('allowed')
    for (const action of ['dynamodb:PutItem', 'dynamodb:DeleteItem', 'dynamodb:Query'])
      expect(decide(policy, action, TABLE, leading('maintenance')), action).toBe('not allowed')
  })

  test('has no Scan, since nothing the issuer lists needs one', () => {
    for (const prefix of Object.values(keys).filter((key) => typeof key === 'string' && /[.:]$/.test(key)))
      expect(locatePrefix(String(prefix)), String(prefix)).toHaveProperty('query')
    expect(decide(policy, 'dynamodb:Scan', TABLE)).toBe('not allowed')
  })

  test('names no partition key that a call may leave out', () => {
    for (const action of ['dynamodb:Query', 'dynamodb:GetItem', 'dynamodb:PutItem'])
      expect(decide(policy, action, TABLE)).toBe('not allowed')
  })

  test('lists no directory of parameters that a denied one is in: whoever lists a directory has every value below', () => {
    const parameter = 'arn:aws:ssm:eu-west-1:111122223333:parameter/sluis/acme'
    for (const directory of ['', '/internal', '/internal/oidc'])
      expect(decide(policy, 'ssm:GetParametersByPath', parameter + directory), directory).toBe('not allowed')
    for (const directory of ['/internal/oidc/clients', '/external/oidc'])
      expect(decide(policy, 'ssm:GetParametersByPath', parameter + directory), directory).toBe('allowed')
  })
})

describe('a policy', () => {
  test('takes an alias as a condition on every key, and a key for what it is', () => {
    const seal = (policy: PolicyDocument) => policy.Statement.find(({ Sid }) => Sid === 'Seal')
    expect(seal(issuerOf())).toMatchObject({
      Resource: ['arn:aws:kms:eu-west-1:111122223333:key/*'],
      Condition: {
        'ForAnyValue:StringEquals': { 'kms:ResourceAliases': 'alias/sluis-acme' },
        StringEquals: { 'kms:EncryptionContext:instance': 'acme' },
      },
    })
    const used = (alias: string) => ({ 'kms:EncryptionContext:instance': ['acme'], 'kms:ResourceAliases': [alias] })
    const some = 'arn:aws:kms:eu-west-1:111122223333:key/1'
    expect(decide(issuerOf(), 'kms:Decrypt', some, used('alias/sluis-acme'))).toBe('allowed')
    expect(decide(issuerOf(), 'kms:Decrypt', some, used('alias/another'))).toBe('not allowed')
    const id = '1234abcd-12ab-34cd-56ef-1234567890ab'
    const arn = `arn:aws:kms:eu-west-1:111122223333:key/${id}`
    for (const key of [id, arn]) expect(seal(issuerOf('--key', key))).toMatchObject({ Resource: [arn], Condition: { StringEquals: {} } })
  })

  test('lets the key of parameters be used through SSM only, for parameters of its own', () => {
    const arn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
    const policy = issuerOf('--parameter-key', arn)
    const through = (parameter: string, service = 'ssm.eu-west-1.amazonaws.com') => ({
      'kms:ViaService': [service],
      'kms:EncryptionContext:PARAMETER_ARN': [`arn:aws:ssm:eu-west-1:111122223333:parameter/sluis/acme/${parameter}`],
    })
    expect(decide(policy, 'kms:Decrypt', arn, through('internal/oidc/clients/backend'))).toBe('allowed')
    expect(decide(policy, 'kms:Decrypt', arn, through('internal/oidc/recovery-password'))).toBe('denied')
    expect(decide(policy, 'kms:Decrypt', arn, through('internal/github/apps/link/1'))).toBe('not allowed')
    expect(decide(policy, 'kms:Decrypt', arn, through('internal/oidc/clients/backend', 's3.eu-west-1.amazonaws.com'))).toBe('not allowed')
    expect(JSON.stringify(issuerOf())).not.toContain('kms:ViaService')
  })

  test('lets the key of objects be used through S3 only', () => {
    const arn = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
    const policy = issuerOf('--bucket-key', arn)
    expect(decide(policy, 'kms:GenerateDataKey', arn, { 'kms:ViaService': ['s3.eu-west-1.amazonaws.com'] })).toBe('allowed')
    expect(decide(policy, 'kms:GenerateDataKey', arn)).toBe('not allowed')
  })

  test('names the partition its region is in', () => {
    for (const [region, partition] of [
      ['cn-north-1', 'aws-cn'],
      ['us-gov-west-1', 'aws-us-gov'],
    ] as const) {
      const text = JSON.stringify(policies('--region', region))
      expect(text).toContain(`arn:${partition}:dynamodb:${region}:111122223333:table/sluis-acme-oidc`)
      expect(text).not.toContain('arn:aws:')
    }
  })

  test('has nothing of S3 without a bucket, and keeps its module to its own objects with one', () => {
    expect(JSON.stringify(JSON.parse(iam(BASE.slice(0, -2), {}).stdout))).not.toContain('s3:')
    const { 'sluis-acme-controllers-github': github } = policies('--prefix', '/shared/acme/')
    const object = (name: string) => `arn:aws:s3:::acme-sluis/shared/acme/${name}`
    if (github === undefined) throw new Error('no policy of github')
    expect(decide(github, 's3:PutObject', object('github/reports/acme'))).toBe('allowed')
    expect(decide(github, 's3:GetObject', object('google/cache/c/1'))).toBe('allowed')
    expect(decide(github, 's3:PutObject', object('google/cache/c/1'))).toBe('not allowed')
    expect(decide(github, 's3:GetObject', object('slack/reports/T1'))).toBe('not allowed')
  })

  test('fits IAM, every one', () => {
    for (const [name, policy] of Object.entries(policies('--parameter-key', 'alias/sluis-acme-parameters')))
      expect(JSON.stringify(policy).length, name).toBeLessThanOrEqual(POLICY_LIMIT)
  })

  test('over the limit is split between statements, in as few documents as take them', () => {
    const statement = (at: number): Statement => ({
      Sid: `S${at}`,
      Effect: 'Allow',
      Action: ['s3:GetObject'],
      Resource: ['x'.repeat(2_500)],
    })
    const statements = [0, 1, 2, 3, 4].map(statement)
    const documents = documentsOf(statements)
    expect(documents.map(({ Statement }) => Statement.map(({ Sid }) => Sid))).toEqual([['S0', 'S1'], ['S2', 'S3'], ['S4']])
    expect(() => documentsOf([{ ...statement(0), Resource: ['x'.repeat(POLICY_LIMIT)] }])).toThrow('S0 alone is over the 6144 characters')
  })
})

describe('the other roles', () => {
  test('are what a Worker of each opens, a policy a module', () => {
    expect(Object.keys(policies())).toEqual([
      'sluis-acme-issuer-oidc',
      ...['github', 'slack', 'cloudflare', 'google'].map((module) => `sluis-acme-controllers-${module}`),
      'sluis-acme-backup-backup',
      'sluis-acme-restore-backup',
    ])
  })

  test('restore alone writes the maintenance flag, and reads the restore identity', () => {
    const identity = 'arn:aws:ssm:eu-west-1:111122223333:parameter/sluis/acme/internal/backup/restore-identity'
    const writers = Object.entries(policies()).filter(
      ([, policy]) => decide(policy, 'dynamodb:PutItem', TABLE, leading('maintenance')) === 'allowed',
    )
    const readers = Object.entries(policies()).filter(([, policy]) => decide(policy, 'ssm:GetParameter', identity) === 'allowed')
    expect([writers, readers].map((found) => found.map(([name]) => name))).toEqual([
      ['sluis-acme-restore-backup'],
      ['sluis-acme-restore-backup'],
    ])
  })

  test('a backup reads whole tables and writes none but its own', () => {
    const { 'sluis-acme-backup-backup': backup } = policies()
    if (backup === undefined) throw new Error('no policy of backup')
    expect(decide(backup, 'dynamodb:Scan', TABLE)).toBe('allowed')
    expect(decide(backup, 'dynamodb:PutItem', TABLE, leading('session'))).toBe('not allowed')
    expect(decide(backup, 'dynamodb:PutItem', TABLE.replace('oidc', 'backup'), leading('run'))).toBe('allowed')
  })
})

describe('npm run iam', () => {
  test('prints one document alone when asked for it, and its notes elsewhere', () => {
    const { stdout, stderr } = iam([...BASE, '--policy', 'sluis-acme-issuer-oidc'], {})
    expect(JSON.parse(stdout)).toEqual(issuerOf())
    expect(stderr).toContain('sluis-acme-issuer-oidc: attach it to the user of AWS_OIDC_ACCESS_KEY_ID')
  })

  test.each([
    [['--account', '1'], '--account is the twelve digits'],
    [['--role', 'issuer,admin'], '--role admin: there is none. There are: issuer, controllers, backup, restore'],
    [['--module', 'x'], '--module x: there is none'],
    [['--policy', 'x'], '--policy x: there is none. There are: sluis-acme-issuer-oidc, '],
    [['--key', 'alias/aws/ssm'], "--key alias/aws/ssm is no KMS key: an alias like alias/sluis-acme (not one of AWS's own)"],
    [['--key', '*'], '--key * is no KMS key'],
    [['--bucket', '*'], '--bucket * is no name of a bucket'],
    [['--prefix', '*'], '--prefix * is letters'],
    [['--region', '*'], '--region * is no AWS region'],
    [['--instance', '*'], '--instance * is no instance'],
  ])('refuses %j, naming the flag', (args, said) => {
    expect(() => iam([...BASE, ...args], {})).toThrow(said)
  })

  test('asks for the instance and the region it was not given', () => {
    expect(() => iam([], {})).toThrow('which instance? --instance acme, or INSTANCE in the environment')
    expect(() => iam(['--account', '111122223333'], { INSTANCE: 'acme' })).toThrow('in which region? --region eu-west-1, or AWS_REGION')
  })
})
