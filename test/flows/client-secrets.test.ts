import { describe, expect, it } from 'vitest'
import { callOps } from '../../scripts/ops-client.ts'
import type { Adapters, Documents } from '../../src/compose.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { fromUtf8, utf8 } from '../../src/crypto/bytes.ts'
import type { ClientCommand } from '../../src/ops/client-secrets.ts'
import { PortError } from '../../src/ports/error.ts'
import {
  asBackend,
  exchange,
  random,
  redeployed,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  testStore,
} from './harness.ts'

const PATH = 'external/oidc/backend'
const HOUR = 3_600

/** The dev documents with `backend` given a generated secret, and so many clients like it. */
function generatedStore(more = 0): TestStore {
  return testStore('memory', {
    edit({ service, policy }) {
      service.keyring.rings = ['ES256']
      const { backend } = policy.clients
      if (backend === undefined) return
      delete backend.signing_alg
      backend.secret = { generate: true }
      for (let n = 0; n < more; n++) policy.clients[`more-${n}`] = { ...backend }
    },
  })
}

/** What the operator's route answers, and every body it sent to do so. */
async function ask(
  service: TestService,
  store: TestStore,
  command: ClientCommand,
): Promise<{ answer: Record<string, unknown>; sent: string }> {
  const target = { issuer: service.url, instance: store.documents.service.instance, opsKey: encodeBase64url(new Uint8Array(32).fill(9)) }
  let sent = ''
  const answer = await callOps(target, command, {
    now: store.clock.now,
    random: random.bytes,
    async fetch(url, init) {
      const response = await service.fetch(url, init)
      sent = await response.clone().text()
      return response
    },
  })
  return { answer, sent }
}

async function shown(service: TestService, store: TestStore): Promise<string> {
  return String((await ask(service, store, { command: 'client.show', client: 'backend' })).answer.opened)
}

function rotate(service: TestService, store: TestStore, overlap: number, force = false) {
  return ask(service, store, { command: 'client.rotate', client: 'backend', overlap, force })
}

/** Whether a client is who it says: introspection asks nothing else of it. */
async function status(service: TestService, secret: string, client = 'backend'): Promise<number> {
  const headers = { authorization: `Basic ${btoa(`${client}:${secret}`)}` }
  return (await service.fetch('/introspect', { method: 'POST', body: new URLSearchParams({ token: 'x' }), headers })).status
}

function makeMissing({ services: { issuer } }: TestService): Promise<void> {
  return issuer.clientSecrets.makeMissing(issuer)
}

/** A service whose secret store counts what it is asked of clients' documents, and fails what it is told to. */
function watched(store: TestStore, fails: (call: string) => boolean = () => false) {
  const asked: string[] = []
  const wrap = (adapters: Adapters): Adapters => {
    const { secrets } = adapters
    const noted = <T>(call: string, path: string, made: () => Promise<T>): Promise<T> => {
      if (!path.startsWith('external/')) return made()
      asked.push(call)
      return fails(call) ? Promise.reject(new PortError('Unavailable', 'away')) : made()
    }
    return {
      ...adapters,
      secrets: {
        ...secrets,
        get: (path, options) => noted('get', path, () => secrets.get(path, options)),
        putIfVersion: (path, ...rest) => noted('putIfVersion', path, () => secrets.putIfVersion(path, ...rest)),
        list: (prefix) => noted('list', prefix, () => secrets.list(prefix)),
      },
    }
  }
  return { service: startService(store, wrap), asked }
}

const created = { event: 'client_secret.created', client: 'backend', by: 'system' }

describe('a generated secret', () => {
  it('is made before anybody comes, shown to the operator alone, and good for an exchange', async () => {
    const store = generatedStore()
    const service = startService(store)
    await makeMissing(service)
    expect(service.audit.events).toEqual([expect.objectContaining(created)])
    const { answer, sent } = await ask(service, store, { command: 'client.show', client: 'backend' })
    const client_secret = String(answer.opened)
    expect(client_secret).toMatch(/^[\w-]{43}$/)
    expect(sent).not.toContain(client_secret)
    expect(service.logs.join('\n')).not.toContain(client_secret)

    const code = (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? ''
    const { redirect_uri } = asBackend
    expect((await exchange(service, code, { client_id: 'backend', client_secret, redirect_uri })).status).toBe(200)
  })

  it('is made when its client first asks, if nobody made it before', async () => {
    const store = generatedStore()
    const service = startService(store)
    expect(await status(service, 'a guess')).toBe(401)
    expect(service.audit.events.filter(({ event }) => event.startsWith('client_secret'))).toEqual([expect.objectContaining(created)])
    expect(await status(service, await shown(service, store))).toBe(200)
  })

  it('is one, whichever of 20 isolates makes it', async () => {
    const store = generatedStore()
    const services = Array.from({ length: 20 }, () => startService(store))
    await Promise.all(services.map((service, n) => (n % 2 === 0 ? makeMissing(service) : status(service, 'a guess'))))
    const secrets = await Promise.all(services.map((service) => shown(service, store)))
    expect(new Set(secrets).size).toBe(1)
    const audited = services.flatMap(({ audit }) => audit.events.filter(({ event }) => event === 'client_secret.created'))
    expect(audited).toHaveLength(1)
  })

  it('of many clients is made some at a time, and then looked at no more', async () => {
    const store = generatedStore(44)
    const { service, asked } = watched(store)
    const missing = async () => 45 - (await store.adapters().secrets.list('external/oidc')).length
    const left: number[] = []
    for (let n = 0; n < 5; n++) {
      await makeMissing(service)
      left.push(await missing())
    }
    expect(left).toEqual([25, 5, 0, 0, 0])
    expect(asked.filter((call) => call === 'list')).toHaveLength(4)
  })

  it('that stands already is adopted, whoever put it there', async () => {
    const store = generatedStore()
    await store.adapters().secrets.put(PATH, utf8('{"client-id":"backend","client-secret":"seeded","schema":"oidc/v1"}'))
    const service = startService(store)
    await makeMissing(service)
    expect(await status(service, 'seeded')).toBe(200)
    expect(service.audit.events).toEqual([])
  })

  it.each([
    ['no document', '{'],
    ['that of another client', '{"client-id":"wiki","client-secret":"s","schema":"oidc/v1"}'],
    ['the secret alone', 's'],
  ])('is nobody’s while what stands is %s, and that is left as it is', async (_what, text) => {
    const store = generatedStore()
    const { secrets } = store.adapters()
    await secrets.put(PATH, utf8(text))
    const service = startService(store)
    await makeMissing(service)
    expect(await status(service, 's')).toBe(401)
    expect(service.logs.map((line) => JSON.parse(line).event)).toContain('client.secret_unreadable')
    expect(fromUtf8((await secrets.get(PATH)).value)).toBe(text)
  })
})

describe('a rotated secret', () => {
  it('is good at once in every isolate, beside the one before for as long as was asked', async () => {
    const store = generatedStore()
    const [first, second] = [startService(store), startService(store)]
    await makeMissing(first)
    const old = await shown(first, store)
    expect([await status(first, old), await status(second, old)]).toEqual([200, 200])
    store.clock.advance(30)
    const { answer, sent } = await rotate(first, store, HOUR)
    expect(answer).toMatchObject({ outcome: 'rotated' })
    const fresh = await shown(first, store)
    expect(sent).not.toContain(fresh)
    const all = async () => [await status(first, old), await status(second, old), await status(first, fresh), await status(second, fresh)]
    expect(await all()).toEqual([200, 200, 200, 200])
    store.clock.advance(HOUR - 1)
    expect(await all()).toEqual([200, 200, 200, 200])
    store.clock.advance(1)
    expect(await all()).toEqual([401, 401, 200, 200])
  })

  it('without an overlap ends the one before: at once where it was rotated, within a minute elsewhere', async () => {
    const store = generatedStore()
    const [here, elsewhere] = [startService(store), startService(store)]
    await makeMissing(here)
    const old = await shown(here, store)
    expect([await status(here, old), await status(elsewhere, old)]).toEqual([200, 200])
    await rotate(here, store, 0)
    expect(await status(here, old)).toBe(401)
    store.clock.advance(60)
    expect(await status(elsewhere, old)).toBe(401)
  })

  it('is not rotated again while the one before is good, but by force', async () => {
    const store = generatedStore()
    const service = startService(store)
    await makeMissing(service)
    await rotate(service, store, HOUR)
    const fresh = await shown(service, store)
    await expect(rotate(service, store, HOUR)).rejects.toMatchObject({ status: 409, code: 'overlap_running' })
    expect(await shown(service, store)).toBe(fresh)
    await rotate(service, store, 60, true)
    expect(await status(service, fresh)).toBe(200)
    store.clock.advance(60)
    expect(await status(service, fresh)).toBe(401)
  })

  it('may have an overlap of a week, and no second more', async () => {
    const store = generatedStore()
    const service = startService(store)
    await makeMissing(service)
    const old = await shown(service, store)
    for (const overlap of [-1, 604_801, 0.5]) await expect(rotate(service, store, overlap)).rejects.toMatchObject({ status: 400 })
    await rotate(service, store, 604_800)
    store.clock.advance(604_799)
    expect(await status(service, old)).toBe(200)
  })
})

describe('the store of secrets', () => {
  it('is asked once in five seconds by whoever guesses, and written to by none', async () => {
    const store = generatedStore()
    const { service, asked } = watched(store)
    await makeMissing(service)
    asked.length = 0
    for (let second = 0; second < 10; second++) {
      for (let n = 0; n < 5; n++) expect(await status(service, `guess ${n}`)).toBe(401)
      store.clock.advance(1)
    }
    expect(asked).toEqual(['get', 'get'])
  })

  it('that takes no writes is tried once in five seconds, however often a client without a secret asks', async () => {
    const store = generatedStore()
    const { service, asked } = watched(store, (call) => call === 'putIfVersion')
    const statuses: number[] = []
    for (let n = 0; n < 5; n++) statuses.push(await status(service, 'x'))
    expect(statuses).toEqual([503, 401, 401, 401, 401])
    store.clock.advance(5)
    expect(await status(service, 'x')).toBe(503)
    expect(asked.filter((call) => call === 'putIfVersion')).toHaveLength(2)
  })
})

it('what is left of a client that is gone is purged, and one that comes back gets another', async () => {
  const store = generatedStore()
  const service = startService(store)
  await makeMissing(service)
  const old = await shown(service, store)
  const purge = (at: TestService) => ask(at, store, { command: 'client.purge', client: 'backend' })
  await expect(purge(service)).rejects.toMatchObject({ code: 'still_has_one' })

  const without = startService(redeployed(store, ({ policy }: Documents) => void delete policy.clients.backend))
  expect((await ask(without, store, { command: 'client.list' })).answer).toMatchObject({ clients: [], orphans: [{ client: 'backend' }] })
  expect((await purge(without)).answer).toEqual({ ok: true, client: 'backend', purged: [PATH] })
  expect(without.audit.events.filter(({ event }) => event !== 'ops.command')).toEqual([
    expect.objectContaining({ event: 'client_secret.purged', by: 'operator' }),
  ])

  const again = startService(store)
  await makeMissing(again)
  expect([await status(again, old), await status(again, await shown(again, store))]).toEqual([401, 200])
})
