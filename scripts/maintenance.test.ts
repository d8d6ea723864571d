import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { tableName } from '../src/ports/layout5.ts'
import { ACCOUNT } from '../test/aws-emulator/call.ts'
import type { Credential } from '../test/aws-emulator/credentials.ts'
import { type AwsEmulator, startAwsEmulator } from '../test/aws-emulator/emulator.ts'
import type { IamPolicy } from '../test/aws-emulator/iam.ts'
import { build } from './build.ts'
import { iam } from './iam.ts'
import { maintenance } from './maintenance.ts'

const { instance } = (await build()).documents.service

async function said(...args: string[]): Promise<string> {
  const lines: string[] = []
  await maintenance(args, (line) => lines.push(line))
  return lines.join('\n')
}

afterEach(() => vi.unstubAllEnvs())

describe('on AWS', () => {
  const root: Credential = { accessKeyId: 'AKIAROOT', secretAccessKey: 'root/secret' }
  const restore: Credential = { accessKeyId: 'AKIARESTORE', secretAccessKey: 'restores/all' }
  const issuer: Credential = { accessKeyId: 'AKIAISSUER', secretAccessKey: 'issues/tokens' }
  let emulator: AwsEmulator
  beforeAll(async () => {
    emulator = await startAwsEmulator({ credentials: [root, restore, issuer], tables: [tableName(instance, 'oidc')] })
    const key = emulator.createKey(`alias/sluis-${instance}`)
    const policy = (role: string, module: string): IamPolicy => {
      const place = ['--instance', instance, '--account', ACCOUNT, '--region', emulator.region, '--key', key]
      return JSON.parse(iam([...place, '--role', role, '--policy', `sluis-${instance}-${role}-${module}`], {}).stdout)
    }
    restore.policy = policy('restore', 'backup')
    issuer.policy = policy('issuer', 'oidc')
  })
  afterAll(() => emulator.stop())

  const as = ({ accessKeyId, secretAccessKey }: Credential) => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey)
    vi.stubEnv('AWS_REGION', emulator.region)
    vi.stubEnv('AWS_ENDPOINT_URL', emulator.url)
  }

  test('the restore role sets, sees and lifts the flag, and doing so again is harmless', async () => {
    as(restore)
    expect(await said('status', '--aws')).toBe('oidc: not under maintenance')
    expect(await said('on', '--aws', '--reason', 'a drill')).toMatch(/^oidc: under maintenance since 20\S+Z, by operator: a drill$/)
    expect(await said('on', 'oidc', '--aws', '--reason', 'another')).toMatch(
      /^oidc: under maintenance already since \S+, by operator: a drill$/,
    )
    expect(await said('status', '--aws')).toMatch(/^oidc: under maintenance since/)
    expect(await said('off', '--aws')).toBe('oidc: not under maintenance')
    expect(await said('off', '--aws')).toBe('oidc: was not under maintenance')
  })

  test("the issuer's credentials may look, and neither set nor lift it", async () => {
    as(issuer)
    expect(await said('status', '--aws')).toBe('oidc: not under maintenance')
    await expect(said('on', '--aws')).rejects.toThrow(`no permission for table ${tableName(instance, 'oidc')}`)
    as(restore)
    await said('on', '--aws')
    as(issuer)
    await expect(said('off', '--aws')).rejects.toThrow(`no permission for table ${tableName(instance, 'oidc')}`)
    expect(await said('status', '--aws')).toMatch(/under maintenance since/)
    as(restore)
    await said('off', '--aws')
  })

  test('a module whose table is not there is named', async () => {
    as(restore)
    await expect(said('on', 'github', '--aws')).rejects.toThrow(tableName(instance, 'github'))
  })
})

test.each([
  [[], /^npm run maintenance -- on\|off\|status/],
  [['up'], /^npm run maintenance -- on\|off\|status/],
  [['on', 'payroll'], /^payroll is no module: there are oidc, github/],
  [['on', '--because'], /Unknown option '--because'[\s\S]*npm run maintenance/],
])('%j is refused in words', async (args, words) => {
  await expect(said(...args)).rejects.toThrow(words)
})
