import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { policySchema } from '../../src/config/policy.ts'
import { withPlanted } from '../checks/planted.ts'
import { deliveredSecrets, putSecretsOnce } from './client-secrets.ts'

const confidential = (secret: string) => ({ kind: 'confidential', redirects: [], requires: ['a'], secret })
const policy = policySchema.parse({
  version: 1,
  groups: { a: {} },
  clients: {
    'my-app': confidential('internal/oidc/clients/my-app'),
    generated: confidential('external/oidc/generated'),
    open: { kind: 'public', redirects: [], requires: ['a'] },
  },
})
const secrets = deliveredSecrets(policy)

test('a development secret is made for confidential clients whose secret is delivered', () => {
  expect(secrets).toEqual([{ client: 'my-app', path: 'internal/oidc/clients/my-app', variable: 'MY_APP_CLIENT_SECRET' }])
})

test('a secret is put once for the records of a folder, and again when it or the folder is new', async () => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      bodies.push(body)
      response.setHeader('content-type', 'application/json').end('{"ok":true,"version":"1"}')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const target = { issuer: `http://127.0.0.1:${port}`, instance: 'dev', opsKey: Buffer.alloc(32, 1).toString('base64url') }
    const put = (value: string, root: string) =>
      putSecretsOnce(secrets, new Map([['MY_APP_CLIENT_SECRET', value]]), target, `${root}/state`)
    await withPlanted({ keep: '' }, async (root) => {
      await put('one', root)
      await put('one', root)
      expect(bodies.splice(0)).toEqual([`{"command":"secret.put","path":"internal/oidc/clients/my-app","value":"b25l"}`])
      await put('two', root)
      expect(bodies.splice(0)).toEqual([`{"command":"secret.put","path":"internal/oidc/clients/my-app","value":"dHdv"}`])
    })
    await withPlanted({ keep: '' }, (root) => put('two', root))
    expect(bodies).toHaveLength(1)
  } finally {
    server.close()
  }
})
