import { describe, expect, it } from 'vitest'
import { memorySecrets } from '../adapters/memory/secrets.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { utf8 } from '../crypto/bytes.ts'
import { Refusal } from '../http/refusal.ts'
import { PortError } from '../ports/error.ts'
import { SECRET_VALUE_LIMIT } from '../ports/secrets.ts'
import { runCommand } from './commands.ts'

const ADDRESS = 'internal/oidc/clients/backend'
const VALUE = 'c2VjcmV0LXZhbHVl'

function stores() {
  return { secrets: memorySecrets({ clock: { now: () => 0 } }) }
}

describe('secret.put', () => {
  it('writes the bytes, and answers their version and nothing of them', async () => {
    const { secrets } = stores()
    const result = await runCommand({ command: 'secret.put', path: ADDRESS, value: VALUE }, { secrets })
    expect(result).toEqual({ ok: true, version: (await secrets.get(ADDRESS)).version })
    expect((await secrets.get(ADDRESS)).value).toEqual(utf8('secret-value'))
  })

  it('over another keeps that one beside it', async () => {
    const { secrets } = stores()
    await secrets.put(ADDRESS, utf8('before'))
    await runCommand({ command: 'secret.put', path: ADDRESS, value: VALUE }, { secrets })
    expect((await secrets.get(ADDRESS, { previous: true })).previous).toEqual(utf8('before'))
  })

  it('takes the largest secret there may be, and no byte more', async () => {
    const { secrets } = stores()
    const put = (size: number) =>
      runCommand({ command: 'secret.put', path: ADDRESS, value: encodeBase64url(new Uint8Array(size)) }, { secrets })
    await expect(put(SECRET_VALUE_LIMIT)).resolves.toMatchObject({ ok: true })
    await expect(put(SECRET_VALUE_LIMIT + 1)).rejects.toMatchObject({ status: 400 })
  })
})

describe('secret.list', () => {
  it.each([
    ['', ['external/oidc/app', ADDRESS]],
    ['internal/oidc', [ADDRESS]],
    ['internal/oidc/', [ADDRESS]],
    ['internal/oid', []],
  ])('%j names what is below it', async (prefix, paths) => {
    const { secrets } = stores()
    await secrets.put(ADDRESS, utf8('x'))
    await secrets.put('external/oidc/app', utf8('x'))
    expect(await runCommand({ command: 'secret.list', prefix }, { secrets })).toEqual({ ok: true, paths })
  })
})

describe('a command that is none', () => {
  it.each<[unknown, RegExp]>([
    [undefined, /^the body/],
    ['secret.list', /^the body/],
    [{ command: 'secret.delete', path: ADDRESS }, /^command/],
    [{ command: 'secret.put', path: ADDRESS, value: 'a=' }, /^value/],
    [{ command: 'secret.put', path: ADDRESS, value: [VALUE] }, /^value/],
    [{ command: 'secret.put', path: ['x'], value: VALUE }, /^path/],
    [{ command: 'secret.list' }, /^prefix/],
    [{ command: 'secret.put', path: 'a//b', value: VALUE }, /path/],
    [{ command: 'secret.list', prefix: '../x' }, /path/],
  ])('%j is refused with 400, by the name of the field', async (body, names) => {
    const refused = await runCommand(body, stores()).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request', words: { description: expect.stringMatching(names) } })
  })

  it('is refused without a word of the secret it carried', async () => {
    const body = { command: 'secret.put', path: 'a//b', value: VALUE, secret: 'secret-value' }
    const refused = await runCommand(body, stores()).catch((error: unknown) => error)
    expect(JSON.stringify(refused instanceof Refusal ? refused.words : null)).not.toMatch(/secret-value|c2VjcmV0/)
  })

  it('that the store can not carry out now stays the store’s error', async () => {
    const { secrets } = stores()
    const away = { ...secrets, list: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expect(runCommand({ command: 'secret.list', prefix: '' }, { secrets: away })).rejects.toMatchObject({ code: 'Unavailable' })
  })
})
