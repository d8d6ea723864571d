import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ROOT } from './build.ts'

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
