import policy from 'sluis-policy'
import { describe, expect, it } from 'vitest'
import { memorySecrets } from '../adapters/memory/secrets.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { utf8 } from '../crypto/bytes.ts'
import { Refusal } from '../http/refusal.ts'
import { PortError } from '../ports/error.ts'
import type { Module } from '../ports/layout5.ts'
import { SECRET_VALUE_LIMIT } from '../ports/secrets.ts'
import { noLog } from '../telemetry/log.ts'
import type { Tick } from '../ticks/tick.ts'
import { runCommand } from './commands.ts'

const ADDRESS = 'internal/oidc/clients/backend'
const VALUE = 'c2VjcmV0LXZhbHVl'

function commanded() {
  const clock = { now: () => 0 }
  const shared = { store: createMemoryStore(), clock }
  const secrets = memorySecrets({ clock })
  const asked: string[] = []
  const trigger = { notify: async (target: string) => void asked.push(target) }
  const tick: Tick = {
    kind: 'logout',
    target: 'all',
    every: 1,
    module: 'oidc',
    state: memoryState({ ...shared, module: 'oidc' }),
    run: async () => 'ran',
  }
  const clients = {
    policy,
    random: { bytes: (length: number) => new Uint8Array(length) },
    audit: { record: () => {} },
    sealAnswer: async () => '',
  } as const
  const same = async () => 'same' as const
  const sealed = {
    keyring: { reseal: () => expect.unreachable('nothing here is sealed'), replace: () => expect.unreachable('nothing here is a key') },
    sealedSecrets: null,
    stateSecret: { guard: same, accept: same },
  }
  const maintenance = (module: Module) => memoryState({ ...shared, module, restore: true })
  const state = memoryState({ ...shared, module: 'oidc' })
  return {
    secrets,
    ticks: { fixed: [tick], families: [] },
    trigger,
    asked,
    state,
    maintenance,
    recoveryGeneration: 1,
    workspaces: null,
    clock,
    log: noLog,
    ...clients,
    ...sealed,
  }
}

describe('secret.put', () => {
  it('writes the bytes, and answers their version and nothing of them', async () => {
    const all = commanded()
    const { secrets } = all
    const result = await runCommand({ command: 'secret.put', path: ADDRESS, value: VALUE }, all)
    expect(result).toEqual({ ok: true, version: (await secrets.get(ADDRESS)).version })
    expect((await secrets.get(ADDRESS)).value).toEqual(utf8('secret-value'))
  })

  it('over another keeps that one beside it', async () => {
    const all = commanded()
    const { secrets } = all
    await secrets.put(ADDRESS, utf8('before'))
    await runCommand({ command: 'secret.put', path: ADDRESS, value: VALUE }, all)
    expect((await secrets.get(ADDRESS, { previous: true })).previous).toEqual(utf8('before'))
  })

  it('takes the largest secret there may be, and no byte more', async () => {
    const all = commanded()
    const put = (size: number) => runCommand({ command: 'secret.put', path: ADDRESS, value: encodeBase64url(new Uint8Array(size)) }, all)
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
    const all = commanded()
    const { secrets } = all
    await secrets.put(ADDRESS, utf8('x'))
    await secrets.put('external/oidc/app', utf8('x'))
    expect(await runCommand({ command: 'secret.list', prefix }, all)).toEqual({ ok: true, paths })
  })
})

describe('tick.run', () => {
  it('has the target run, and refuses one that there is not, naming those there are', async () => {
    const all = commanded()
    expect(await runCommand({ command: 'tick.run', kind: 'logout', target: 'all' }, all)).toEqual({ ok: true, asked: 'logout:all' })
    expect(all.asked).toEqual(['logout:all'])
    const refused = await runCommand({ command: 'tick.run', kind: 'backup', target: 'all' }, all).catch((error: unknown) => error)
    expect(refused).toMatchObject({ status: 400, words: { description: expect.stringContaining('only logout:all') } })
    expect(all.asked).toHaveLength(1)
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
    const refused = await runCommand(body, commanded()).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request', words: { description: expect.stringMatching(names) } })
  })

  it('is refused without a word of the secret it carried', async () => {
    const body = { command: 'secret.put', path: 'a//b', value: VALUE, secret: 'secret-value' }
    const refused = await runCommand(body, commanded()).catch((error: unknown) => error)
    expect(JSON.stringify(refused instanceof Refusal ? refused.words : null)).not.toMatch(/secret-value|c2VjcmV0/)
  })

  it('that the store can not carry out now stays the store’s error', async () => {
    const all = commanded()
    const { secrets } = all
    const away = { ...secrets, list: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expect(runCommand({ command: 'secret.list', prefix: '' }, { ...all, secrets: away })).rejects.toMatchObject({
      code: 'Unavailable',
    })
  })
})
