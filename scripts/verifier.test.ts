import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PasswordError, prove } from '../src/browser/password/prove.ts'
import { decodeBase64url, encodeBase64url } from '../src/crypto/base64url.ts'
import { rfc5054of2048 } from '../src/crypto/srp/group.ts'
import { fromBytes } from '../src/crypto/srp/numbers.ts'
import { passwordSecret } from '../src/crypto/srp/password.ts'
import { pad, serverProofs, serverPublic, signInSrp, verifierFrom } from '../src/crypto/srp/srp.ts'
import { readVerifier, type Verifier } from '../src/records/verifier.ts'
import { type AwsEmulator, startAwsEmulator } from '../test/aws-emulator/emulator.ts'
import { openParameters } from './aws/parameters.ts'
import { ROOT } from './build.ts'
import { makeVerifier } from './verifier.ts'

const PATH = 'internal/oidc/recovery-verifier'
const bodies: string[] = []
let status = 200
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    bodies.push(body)
    const answer =
      status === 200 ? '{"ok":true,"version":"v1"}' : '{"error":"temporarily_unavailable","error_description":"the store is away"}'
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
  })
})
let issuer: string

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  issuer = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
})
afterAll(() => {
  server.close()
})

/** What `npm run verifier` does with these arguments. */
async function verifier(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  bodies.length = 0
  const key = Buffer.alloc(32, 1).toString('base64url')
  const child = spawn(process.execPath, [join(ROOT, 'scripts/verifier.ts'), ...args, '--issuer', issuer], {
    env: { ...process.env, OPS_KEY: key, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout, stderr }
}

function verifierOf(document: Uint8Array): Verifier {
  const read = readVerifier(new Uint8Array(document))
  if ('problem' in read) throw new Error(read.problem)
  return read
}

/** An issuer that has nothing but the document, as the browser's script meets it. `lies`: it answers any proof, with nothing behind it. */
function issuerOf({ salt, v }: Verifier, { lies = false } = {}) {
  const sent: string[] = []
  const b = fromBytes(new Uint8Array(randomBytes(32)))
  let A = 0n
  return {
    sent,
    async fetch(path: string, init: RequestInit): Promise<Response> {
      sent.push(String(init.body))
      const form = new URLSearchParams(String(init.body))
      const B = await serverPublic({ v, b }, signInSrp)
      if (path === '/login/recovery/start') {
        A = fromBytes(decodeBase64url(form.get('A') ?? '') ?? new Uint8Array(0))
        return Response.json({ handle: 'h', salt: encodeBase64url(salt), iterations: 600_000, B: encodeBase64url(pad(B, rfc5054of2048)) })
      }
      const proofs = await serverProofs({ A, B, b, v }, signInSrp)
      if (proofs === null || (!lies && encodeBase64url(proofs.M1) !== form.get('M1'))) return new Response(null, { status: 403 })
      return Response.json({ M2: encodeBase64url(proofs.M2), proof: 'the proof' })
    },
  }
}

const attempt = (password: string) => ({ auth: 'r1', account: 'recovery', password })

test('a password is 40 letters and digits nobody misreads, and another every time', async () => {
  const [one, other] = await Promise.all([makeVerifier(), makeVerifier()])
  for (const { password } of [one, other]) expect(password).toMatch(/^[2-9A-HJKMNP-Za-kmnp-z]{40}$/)
  expect(one.password).not.toBe(other.password)
  expect(Buffer.from(one.document).toString()).not.toContain(one.password)
})

test('the browser proves it to whoever has the document, and sends nothing of it', async () => {
  const { password, document } = await makeVerifier()
  const { fetch, sent } = issuerOf(verifierOf(document))
  expect(await prove(attempt(password), fetch)).toBe('the proof')
  expect(sent).toHaveLength(2)
  expect(sent.join()).not.toContain(password)

  const wrong: unknown = await prove(attempt(`${password}x`), issuerOf(verifierOf(document)).fetch).catch((error: unknown) => error)
  expect(wrong).toBeInstanceOf(PasswordError)
})

test('the browser goes on with no issuer that takes any password', async () => {
  const { password } = await makeVerifier()
  const impostor = issuerOf({ salt: new Uint8Array(16), v: 4n }, { lies: true })
  await expect(prove(attempt(password), impostor.fetch)).rejects.toThrow('could not show that it knows your password')
})

test('a password is the same however its letters are composed', async () => {
  const salt = new Uint8Array(16).fill(3)
  const [composed, decomposed] = await Promise.all(['caf\u00e9', 'cafe\u0301'].map((word) => passwordSecret(word, salt)))
  expect(decomposed).toBe(composed)
  expect(composed).not.toBe(await passwordSecret('cafe', salt))
})

test('PBKDF2-SHA-256 is the one everybody has', async () => {
  // RFC 7914 section 11
  const x = await passwordSecret('passwd', new Uint8Array(Buffer.from('salt')), 1)
  expect(x.toString(16)).toBe('55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc')
})

test('the verifier is put, the password printed by itself, and the issuer told nothing of it', async () => {
  const { code, stdout, stderr } = await verifier(['recovery'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\w{40}\n$/)
  expect(stderr).toContain(`put at ${PATH} of instance dev at ${issuer}. The password of recovery, shown this once:\n`)
  const [body = ''] = bodies
  const { value, ...command } = JSON.parse(body)
  expect(command).toEqual({ command: 'secret.put', path: PATH })
  const { salt, v } = verifierOf(Buffer.from(value, 'base64url'))
  expect(verifierFrom(await passwordSecret(stdout.trim(), salt), signInSrp)).toBe(v)
  expect(body + Buffer.from(value, 'base64url').toString()).not.toContain(stdout.trim())
})

test('a password whose verifier is not known to stand is shown to nobody', async () => {
  status = 503
  const { code, stdout, stderr } = await verifier(['conformance'])
  status = 200
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('the store is away')
})

test('a dry run draws nothing and asks nobody', async () => {
  const { code, stdout, stderr } = await verifier(['recovery', '--dry-run'])
  expect({ code, stdout, asked: bodies.length }).toEqual({ code: 0, stdout: '', asked: 0 })
  expect(stderr).toContain(`would draw a password and put its verifier at ${PATH} of instance dev at ${issuer}`)
})

test('no other account has one, and no other option there is', async () => {
  const runs = [[], ['root'], ['recovery', 'conformance'], ['recovery', '--force']].map((args) => verifier(args))
  for (const { code, stderr } of await Promise.all(runs)) {
    expect(code).toBe(1)
    expect(stderr).toContain('npm run verifier -- recovery|conformance')
  }
})

test('on AWS it is the parameter that the issuer reads', async () => {
  const secretAccessKey = randomBytes(24).toString('base64url')
  const emulator: AwsEmulator = await startAwsEmulator({ credentials: [{ accessKeyId: 'AKIAOPERATOR', secretAccessKey }] })
  try {
    const env = {
      ...{ AWS_ACCESS_KEY_ID: 'AKIAOPERATOR', AWS_SECRET_ACCESS_KEY: secretAccessKey, INSTANCE: 'acme' },
      ...{ AWS_REGION: emulator.region, AWS_ENDPOINT_URL: emulator.url },
    }
    const { code, stdout, stderr } = await verifier(['recovery', '--aws'], env)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('put at parameter /sluis/acme/') })
    const kept = await openParameters({ instance: 'acme', region: emulator.region }, env).get(PATH)
    const { salt, v } = verifierOf(kept.value)
    expect(verifierFrom(await passwordSecret(stdout.trim(), salt), signInSrp)).toBe(v)
  } finally {
    await emulator.stop()
  }
})
