import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from '../test/aws-emulator/emulator.ts'
import { openParameters } from './aws/parameters.ts'
import { build, ROOT } from './build.ts'
import { clientAt, clientValue } from './seed.ts'

const PATH = 'internal/oidc/clients/backend'
let server: Server
let issuer: string
let bodies: string[]

beforeEach(async () => {
  bodies = []
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      bodies.push(body)
      response.setHeader('content-type', 'application/json').end('{"ok":true,"version":"v1"}')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  issuer = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
})

afterEach(() => {
  server.close()
})

/** What `npm run seed` does with these arguments and this on its standard input. */
async function seed(args: readonly string[], typed = '', env: NodeJS.ProcessEnv = {}) {
  const key = Buffer.alloc(32, 1).toString('base64url')
  const child = spawn(process.execPath, [join(ROOT, 'scripts/seed.ts'), ...args, '--issuer', issuer], {
    env: { ...process.env, OPS_KEY: key, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdin.end(typed)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

function sent(): { value: string }[] {
  return bodies.map((body) => JSON.parse(body))
}

test('the secret on standard input is put at the address, without its line end, and shown to nobody', async () => {
  const { code, stdout, stderr } = await seed([PATH], 'hunter2 and more\n')
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toBe(`put at ${PATH} of instance dev at ${issuer}, version v1\n`)
  expect(sent()).toEqual([{ command: 'secret.put', path: PATH, value: Buffer.from('hunter2 and more').toString('base64url') }])
})

test('a generated secret is 32 bytes, printed by itself once it is put', async () => {
  const { code, stdout } = await seed([PATH, '--generate'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^[\w-]{43}\n$/)
  expect(sent().map(({ value }) => Buffer.from(value, 'base64url').toString())).toEqual([stdout.trim()])
})

test('a dry run asks nobody and shows no secret', async () => {
  const { code, stdout, stderr } = await seed([PATH, '--dry-run'], 'hunter2')
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toBe(`would put 7 bytes at ${PATH} of instance dev at ${issuer}\n`)
  expect(bodies).toEqual([])
})

test('an address the policy does not name is refused, with those it does', async () => {
  const { code, stderr } = await seed(['internal/oidc/clients/back'], 'hunter2')
  expect(code).toBe(1)
  expect(stderr).toBe(`config/policy.yaml names no secret at internal/oidc/clients/back. It names: ${PATH}\n`)
  expect(bodies).toEqual([])
})

test('no secret, one with a space at its end or of two lines is refused', async () => {
  for (const typed of ['', '\n', 'hunter2 \n', ' hunter2', 'hunter\n2']) {
    expect((await seed([PATH], typed)).code).toBe(1)
  }
  expect(bodies).toEqual([])
})

test('without OPS_KEY it says where one was looked for', async () => {
  const { code, stderr } = await seed([PATH, '--vars', 'none'], 'hunter2', { OPS_KEY: undefined })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^there is no OPS_KEY, in the environment or in .*none\n$/)
})

test('a secret below external/ is put as the document others read', () => {
  const document = '{"client-id":"web","client-secret":"hunter2","schema":"oidc/v1"}'
  expect(Buffer.from(clientValue('external/oidc/web', 'web', 'hunter2')).toString()).toBe(document)
  expect(Buffer.from(clientValue(PATH, 'backend', 'hunter2')).toString()).toBe('hunter2')
})

test('what a provider of the service document gave goes to its own two addresses, and no others', async () => {
  const { documents } = await build()
  const google = { kind: 'google' as const, name: 'Google', hosted_domains: ['acme.example'] }
  const { service, policy } = documents
  const withGoogle = { policy, service: { ...service, signin: { ...service.signin, providers: { google } } } }
  for (const name of ['client-id', 'client-secret']) {
    expect(clientAt(`internal/oidc/signin/google/${name}`, withGoogle)).toBe('google')
    expect(() => clientAt(`internal/oidc/signin/google/${name}`, documents)).toThrow('names no secret at')
  }
  expect(() => clientAt('internal/oidc/signin/okta/client-id', withGoogle)).toThrow(
    `It names: ${PATH}; config/service.yaml: internal/oidc/signin/google/client-id, internal/oidc/signin/google/client-secret`,
  )
})

test('the state secret is made by the first start there, not by an operator', async () => {
  const { code, stderr } = await seed(['--state-secret'])
  expect({ code, stderr }).toEqual({ code: 1, stderr: '--state-secret is for AWS: on Cloudflare alone the first start makes it\n' })
  expect(bodies).toEqual([])
})

describe('on AWS', () => {
  const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'AKIAOPERATOR', AWS_SECRET_ACCESS_KEY: randomBytes(24).toString('base64url') }
  const STATE_SECRET = 'internal/oidc/state-secret'
  let emulator: AwsEmulator
  let instance: string // each test's own: its parameters are not there yet
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = CREDENTIALS
    emulator = await startAwsEmulator({ credentials: [{ accessKeyId, secretAccessKey }] })
  })
  afterAll(() => emulator.stop())
  beforeEach(() => {
    instance = `i${randomBytes(4).toString('hex')}`
    emulator.requests.reset()
    env = { ...CREDENTIALS, INSTANCE: instance, AWS_REGION: emulator.region, AWS_ENDPOINT_URL: emulator.url }
  })

  function parameters() {
    return openParameters({ instance, region: emulator.region }, env)
  }

  async function standing(path: string, options?: { previous: boolean }) {
    const { value, previous } = await parameters().get(path, options)
    return { value: Buffer.from(value).toString(), ...(previous ? { previous: Buffer.from(previous).toString() } : {}) }
  }

  test('a secret is put into its parameter, and put again only when it is another', async () => {
    const where = `parameter /sluis/${instance}/${PATH} in ${emulator.region}`
    expect(await seed([PATH, '--aws'], 'hunter2\n', env)).toEqual({ code: 0, stdout: '', stderr: `put at ${where}, version 1\n` })
    expect((await seed([PATH, '--aws'], 'hunter2', env)).stderr).toBe(`is at ${where} already, version 1: nothing to do\n`)
    await emulator.createTables([`sluis-${instance}-oidc`]) // replacing takes the issuer's lease
    expect((await seed([PATH], 'hunter3', { ...env, PRESET: 'aws' })).stderr).toBe(`put at ${where}, version 2\n`)
    expect(await standing(PATH, { previous: true })).toEqual({ value: 'hunter3', previous: 'hunter2' })
    expect(bodies).toEqual([])
  })

  test('a state secret is made when there is none, and never replaced', async () => {
    const where = `parameter /sluis/${instance}/${STATE_SECRET} in ${emulator.region}`
    expect(await seed(['--aws', '--state-secret'], '', env)).toEqual({ code: 0, stdout: '', stderr: `made at ${where}\n` })
    const made = await standing(STATE_SECRET)
    expect(Buffer.from(made.value, 'base64')).toHaveLength(32)
    expect(await seed(['--aws', '--state-secret'], '', env)).toEqual({
      code: 0,
      stdout: '',
      stderr: `is at ${where} already: left as it is\n`,
    })
    expect(await standing(STATE_SECRET)).toEqual(made)
  })

  test('a dry run asks nobody and changes nothing', async () => {
    const [client, state] = [
      await seed(['--aws', '--dry-run', PATH], 'hunter2', env),
      await seed(['--aws', '--dry-run', '--state-secret'], '', env),
    ]
    expect(client.stderr).toBe(`would put 7 bytes at parameter /sluis/${instance}/${PATH} in ${emulator.region}\n`)
    expect(state.stderr).toMatch(/^would make 32 random bytes at parameter .*\/state-secret in .*, when there is none\n$/)
    expect(emulator.requests.counts).toEqual({})
  })

  test('what is missing is named: a variable, a region, a permission', async () => {
    const failing = async (changed: NodeJS.ProcessEnv) => {
      const { code, stdout, stderr } = await seed([PATH, '--aws'], 'hunter2', { ...env, ...changed })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).not.toContain(CREDENTIALS.AWS_SECRET_ACCESS_KEY)
      return stderr
    }
    expect(await failing({ AWS_ACCESS_KEY_ID: undefined })).toMatch(/^AWS_ACCESS_KEY_ID is not in the environment/)
    expect(await failing({ AWS_SECRET_ACCESS_KEY: '' })).toMatch(/^AWS_SECRET_ACCESS_KEY is not in the environment/)
    expect(await failing({ AWS_REGION: undefined })).toMatch(/^in which region\? --region eu-west-1/)
    expect(await failing({ AWS_REGION: 'here' })).toMatch(/^--region here is no AWS region/)
    expect(await failing({ AWS_SECRET_ACCESS_KEY: 'another' })).toMatch(/^the secret access key does not belong to the access key/)
    expect(await failing({ AWS_ENDPOINT_URL: 'ftp://x' })).toMatch(/^the endpoint ftp:\/\/x .* is no http or https address/)
    expect(emulator.requests.counts).toEqual({})
  })
})
