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
  const asked: [string, string][] = []
  const note = async (path: string, value: Uint8Array) => void asked.push([path, Buffer.from(value).toString()])
  const put = (value: string, root: string) => putSecretsOnce(secrets, new Map([['MY_APP_CLIENT_SECRET', value]]), note, `${root}/state`)
  await withPlanted({ keep: '' }, async (root) => {
    await put('one', root)
    await put('one', root)
    expect(asked.splice(0)).toEqual([['internal/oidc/clients/my-app', 'one']])
    await put('two', root)
    expect(asked.splice(0)).toEqual([['internal/oidc/clients/my-app', 'two']])
  })
  await withPlanted({ keep: '' }, (root) => put('two', root))
  expect(asked).toHaveLength(1)
})

test('a secret that could not be put is tried again', async () => {
  const asked: string[] = []
  const vars = new Map([['MY_APP_CLIENT_SECRET', 'one']])
  await withPlanted({ keep: '' }, async (root) => {
    await expect(putSecretsOnce(secrets, vars, () => Promise.reject(new Error('away')), root)).rejects.toThrow('away')
    await putSecretsOnce(secrets, vars, async (path) => void asked.push(path), root)
  })
  expect(asked).toEqual(['internal/oidc/clients/my-app'])
})
