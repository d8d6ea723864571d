import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { memorySecrets } from '../src/adapters/memory/secrets.ts'
import type { Documents } from '../src/config/documents.ts'
import { utf8 } from '../src/crypto/bytes.ts'
import { Refusal } from '../src/http/refusal.ts'
import { type ClientCommand, runClients } from '../src/ops/client-secrets.ts'
import { sealForOperator } from '../src/ops/sealed-answer.ts'
import type { Secrets } from '../src/ports/secrets.ts'
import { type AwsEmulator, startAwsEmulator } from '../test/aws-emulator/emulator.ts'
import { openParameters } from './aws/parameters.ts'
import { build } from './build.ts'
import { clients } from './clients.ts'

const KEY = randomBytes(32)
const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
const clock = { now: () => Date.now() }
const LEFT = utf8('{"client-id":"gone","client-secret":"left","schema":"oidc/v1"}')

let documents: Documents
beforeAll(async () => {
  documents = structuredClone((await build()).documents)
  const { backend } = documents.policy.clients
  if (backend !== undefined) documents.policy.clients.web = { ...backend, secret: { generate: true } }
})

const run = (...args: string[]) => clients(args, async () => documents)
const refused = (...args: string[]) =>
  run(...args).then(
    () => expect.unreachable('it is to be refused'),
    (error: Error) => error.message,
  )

/** What holds wherever the secrets are kept. */
function commands(secrets: () => Secrets): void {
  test('a secret is made when it is first asked for, and is all that is printed', async () => {
    const { output, words } = await run('show', 'web')
    expect([output, words]).toEqual([expect.stringMatching(/^[\w-]{43}$/), ''])
    expect((await run('show', 'web')).output).toBe(output)
    expect(await run('list')).toEqual({ output: expect.stringMatching(/^web: written 20\d\d-\S+Z$/), words: '' })
  })

  test('a rotation says until when the one before is good, and a second in that time is refused unless forced', async () => {
    const { output: before } = await run('show', 'web')
    const { output, words } = await run('rotate', 'web', '--overlap', '12h')
    expect([output, words]).toEqual([
      '',
      expect.stringMatching(/^web has a new secret, the one before is good until 20\S+Z\. npm run clients -- show web$/),
    ])
    const after = await run('show', 'web')
    expect(after.output).not.toBe(before)
    expect((await run('list')).output).toMatch(/^web: written \S+, the one before is good until \S+Z$/)
    expect(await refused('rotate', 'web')).toMatch(/^overlap_running: the secret of web was rotated at .*\. Wait, or force it$/)
    expect(await run('show', 'web')).toEqual(after)
    expect((await run('rotate', 'web', '--force', '--overlap', '0')).words).toMatch(/the one before is refused from now on/)
    expect((await run('list')).output).not.toContain('good until')
  })

  test('a rotation of none makes one', async () => {
    expect((await run('rotate', 'web')).words).toBe('web had no secret: one is made. npm run clients -- show web')
  })

  test('what is left of a client is deleted when it is named and said so, and no other', async () => {
    await run('show', 'web')
    await secrets().put('external/oidc/gone', LEFT)
    expect((await run('list')).output).toMatch(/\ngone: no client of the policy .* external\/oidc\/gone\. npm run clients -- purge gone$/)
    expect((await run('purge', 'gone')).words).toBe('would delete external/oidc/gone: say --yes')
    expect(await secrets().list('external/oidc')).toHaveLength(2)
    expect((await run('purge', 'gone', '--yes')).words).toBe('deleted external/oidc/gone')
    expect(await secrets().list('external/oidc')).toEqual(['external/oidc/web'])
    expect(await refused('purge', 'gone', '--yes')).toBe('unknown_client: nothing of a client gone is left below external/oidc/')
    expect(await refused('purge', 'web', '--yes')).toMatch(/^still_has_one: client web still has its secret there/)
  })

  test('what authenticates nobody is said to, and left as it is', async () => {
    await secrets().put('external/oidc/web', LEFT)
    expect((await run('list')).output).toMatch(
      /^web: authenticates nobody: its client-id is another client \(external\/oidc\/web, written /,
    )
    for (const args of [
      ['show', 'web'],
      ['rotate', 'web', '--force'],
    ])
      expect(await refused(...args)).toMatch(/^not_its_secret: /)
    expect((await secrets().get('external/oidc/web')).value).toEqual(LEFT)
  })

  test('a client without a generated secret is told apart from none', async () => {
    expect(await refused('show', 'backend')).toMatch(/^not_generated: .* names a secret of its own, internal\/oidc\/clients\/backend$/)
    expect(await refused('rotate', 'demo')).toBe('not_generated: the secret of demo is not generated: its row is public and has none')
    expect(await refused('show', 'nobody')).toBe('unknown_client: there is no client nobody in the policy')
  })
}

describe('on a running issuer', () => {
  let server: Server
  let secrets: Secrets
  let answered: string[]

  beforeEach(async () => {
    secrets = memorySecrets({ clock })
    answered = []
    server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.on('end', async () => {
        const [status, answer] = await operated(JSON.parse(body), String(request.headers['sluis-nonce']), secrets)
        answered.push(answer)
        response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
      })
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const address = server.address()
    vi.stubEnv('ISSUER', `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`)
    vi.stubEnv('OPS_KEY', KEY.toString('base64url'))
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    server.close()
  })

  commands(() => secrets)

  test('no answer holds a secret in the clear, and one sealed under another key is not shown', async () => {
    const { output } = await run('show', 'web')
    expect(answered.join('\n')).not.toContain(output)
    vi.stubEnv('OPS_KEY', randomBytes(32).toString('base64url'))
    expect(await refused('show', 'web')).toMatch(/sealed its answer under another key than OPS_KEY/)
  })
})

describe('on AWS', () => {
  const [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY] = ['AKIAOPERATOR', randomBytes(24).toString('base64url')]
  let emulator: AwsEmulator
  let instance: string // each test's own: its parameters are not there yet

  beforeAll(async () => {
    emulator = await startAwsEmulator({ credentials: [{ accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY }] })
  })
  afterAll(() => emulator.stop())
  beforeEach(async () => {
    instance = `i${randomBytes(4).toString('hex')}`
    await emulator.createTables([`sluis-${instance}-oidc`]) // replacing and deleting take the issuer's lease
    const variables = {
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      INSTANCE: instance,
      AWS_REGION: emulator.region,
      AWS_ENDPOINT_URL: emulator.url,
    }
    for (const [name, value] of Object.entries({ ...variables, PRESET: 'aws' })) vi.stubEnv(name, value)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  commands(() => openParameters({ instance, region: emulator.region }, process.env))

  test('what is missing is named', async () => {
    vi.stubEnv('AWS_REGION', undefined)
    expect(await refused('list')).toMatch(/^in which region\?/)
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined)
    expect(await refused('list', '--region', 'eu-west-1')).toMatch(/^AWS_ACCESS_KEY_ID is not in the environment/)
  })
})

test.each([[[]], [['list', 'web']], [['show']], [['show', 'web', 'wiki']], [['delete', 'web']], [['show', 'web', '--quiet']]])(
  '%j is answered with how it is used',
  async (args) => {
    expect(await refused(...args)).toContain('npm run clients -- list | show <id> | rotate <id> | purge <id> [options]')
  },
)

test.each([
  [['rotate', 'web', '--overlap', '8d'], '--overlap 8d is over 7d'],
  [['rotate', 'web', '--overlap', '1w'], '--overlap 1w is neither 0 nor a duration like 12h or 7d'],
  [['rotate', 'web', '--overlap', ''], '--overlap  is neither 0 nor a duration like 12h or 7d'],
  [['show', 'web', '--overlap', '1h'], '--overlap and --force are for rotate'],
  [['rotate', 'web', '--yes'], '--yes is for purge'],
])('%j is refused: %s', async (args, words) => {
  expect(await refused(...args)).toBe(words)
})

/** A command as the operator's route carries it out and answers it. */
async function operated(command: ClientCommand, nonce: string, secrets: Secrets): Promise<[number, string]> {
  const parts = { policy: documents.policy, secrets, clock, random, audit: { record: () => {} } }
  const answer = { key: new Uint8Array(KEY), instance: documents.service.instance, nonce }
  try {
    const result = await runClients(command, parts, (plaintext) => sealForOperator(plaintext, answer, random))
    return [200, JSON.stringify({ ok: true, ...result })]
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [error.status, JSON.stringify({ error: error.code, error_description: error.words.description })]
  }
}
