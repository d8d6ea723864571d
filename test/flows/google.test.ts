import { beforeEach, describe, expect, it } from 'vitest'
import { blobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import type { ModuleStores } from '../../src/compose/adapters.ts'
import type { Adapters } from '../../src/compose.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { GOOGLE } from '../../src/directory/google/endpoints.ts'
import { runWorkspaces, type WorkspaceCommand } from '../../src/ops/workspaces.ts'
import { keys } from '../../src/ports/keys.ts'
import { countCalls } from '../crash/count-calls.ts'
import { slice } from '../google/arrange.ts'
import { type FakeGoogle, fakeGoogle } from '../google/fake-google.ts'
import { failing } from '../google/faults.ts'
import { ADMIN, account, inAccount, smallTenant } from '../google/tenant.ts'
import { errorOf, pageOf } from './answers.ts'
import { asBackend, claimsOf, exchange, startService, type TestService, type Tokens, testStore, userinfo } from './harness.ts'
import { applications, tellable } from './told-clients.ts'
import { strictProvider } from './upstream-provider.ts'
import { ADA, codeOf, comeBack, sent, type UpstreamWorld } from './upstream-world.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const ID = 'C01acme'
const SECRET = 'the-secret-of-backend'

interface GoogleWorld extends UpstreamWorld {
  google: FakeGoogle
  told: ReturnType<typeof applications>['told']
  /** Has the Workspace read, as its tick does; what fails of it fails the tick alone. */
  tick(): Promise<void>
  command(asked: WorkspaceCommand): Promise<Record<string, unknown>>
  /** The stores of module google. */
  stores: ModuleStores
}

/** The whole service at work: people come from a company's provider, and what they are in is read from its Workspace. */
async function googleWorld(wrap = (adapters: Adapters): Adapters => adapters): Promise<GoogleWorld> {
  const store = testStore('memory', {
    edit(documents) {
      const { service } = documents
      service.keyring.rings = ['ES256']
      delete documents.policy.clients.backend?.signing_alg
      Object.assign(service, { directory: { kind: 'google', people: [] } })
      const company = { kind: 'oidc', issuer: 'https://acme.okta.example', name: 'Acme' }
      const okta = { ...company, scopes: [], subject_claim: 'email', trust_email: false }
      Object.assign(service.signin, { picker: false, providers: { okta } })
      tellable(['demo'])(documents)
    },
  })
  const { clock } = store
  const google = await fakeGoogle({ tenant: smallTenant(), clock })
  Object.assign(google, {
    endpoints: GOOGLE,
    keyFile: JSON.stringify({ ...JSON.parse(google.keyFile), token_uri: GOOGLE.token }),
  })
  const okta = await strictProvider({
    issuer: 'https://acme.okta.example',
    redirectUri: 'http://localhost:8787/login/okta/callback',
    clock,
    auth: 'client_secret_basic',
  })
  const { secrets } = store.adapters()
  for (const [path, value] of [
    ['internal/oidc/signin/okta/client-id', okta.client.id],
    ['internal/oidc/signin/okta/client-secret', okta.client.secret],
    ['internal/oidc/clients/backend', SECRET],
  ] as const)
    await secrets.put(path, utf8(value))

  const applied = applications(() => service)
  const others = [
    ['https://acme.okta.example/', okta.fetch],
    ['http://localhost:3999/', applied.outside],
  ] as const
  const shared = createMemoryStore()
  const stores: ModuleStores = {
    state: memoryState({ store: shared, clock, module: 'google', restore: true }),
    secrets,
    blob: memoryBlob({ memory: blobMemory() }),
  }
  const withGoogle = (adapters: Adapters): Adapters =>
    wrap({ ...adapters, google: { ...stores, state: memoryState({ store: shared, clock, module: 'google' }) } })
  const service = startService(store, withGoogle, (input, init) => {
    const { href } = new URL(input instanceof Request ? input.url : input)
    const other = others.find(([prefix]) => href.startsWith(prefix))
    return (other?.[1] ?? google.fetch)(input, init)
  })
  const { workspaces } = service.services.operations
  return {
    ...{ store, okta, service, google, stores, told: applied.told },
    async tick() {
      for (const { all } of service.services.ticks.families)
        for (const tick of await all()) await tick.run(slice({ clock: { at: clock.now(), now: clock.now } })).catch(() => 'failed')
    },
    command: (asked) => runWorkspaces(asked, { workspaces, audit: { record() {} } }),
  }
}

async function connectedAndRead(wrap?: (adapters: Adapters) => Adapters): Promise<GoogleWorld> {
  const world = await googleWorld(wrap)
  await world.command({ command: 'workspace.connect', key: world.google.keyFile, admin: ADMIN })
  await world.tick()
  return world
}

/** Ada at a client, by way of the provider. */
async function signedIn(world: GoogleWorld, changes: Record<string, string> = {}, more: Record<string, string> = {}): Promise<Tokens> {
  const answer = await exchange(world.service, codeOf(await comeBack(world, ADA, changes)), more)
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}

function refresh({ service }: { service: TestService }, refresh_token: string): Promise<Response> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token, client_id: 'demo' })
  return service.fetch('/token', { method: 'POST', body })
}

async function refreshed(world: GoogleWorld, token: string): Promise<Tokens> {
  const answer = await refresh(world, token)
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}

/** Google is away for everything that is asked from now on. */
function outage({ google }: GoogleWorld): void {
  google.faults.push(failing('', Number.POSITIVE_INFINITY))
}

let world: GoogleWorld

beforeEach(async () => {
  world = await connectedAndRead()
})

const account_of = (address: string) => world.google.tenant.accounts.find((one) => one.address === address)
const group_of = (id: string) => world.google.tenant.groups.find((one) => one.id === id)

describe('a person of a Google Workspace', () => {
  it('has their groups, nested ones too, in both tokens, at userinfo and at introspection, each for its audience', async () => {
    const demo = await signedIn(world)
    for (const token of [demo.access_token, demo.id_token])
      expect(claimsOf(token)).toMatchObject({ sub: ADA.email, groups: ['app:demo:user'] })
    expect(await (await userinfo(world.service, demo.access_token)).json()).toMatchObject({
      groups: ['app:demo:user'],
      given_name: 'Ada',
      family_name: 'Lovelace',
    })

    const asClient = { client_id: 'backend', client_secret: SECRET }
    const backend = await signedIn(world, asBackend, { ...asClient, redirect_uri: asBackend.redirect_uri })
    const body = new URLSearchParams({ ...asClient, token: backend.access_token })
    const said = await world.service.fetch('/introspect', { method: 'POST', body })
    expect(await said.json()).toMatchObject({ active: true, sub: ADA.email, groups: ['app:backend:user'] })
  })

  it('is admitted as the groups of each refresh say, and refused without an ending', async () => {
    const { refresh_token } = await signedIn(world)
    const engineering = group_of('g1')
    const nested = engineering?.members.splice(0) ?? []
    world.store.clock.advance(15 * MINUTE)
    await world.tick()
    expect(await errorOf(await refresh(world, refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    await world.service.afterwards()
    expect(world.told).toEqual([])

    engineering?.members.push(...nested)
    world.store.clock.advance(15 * MINUTE)
    await world.tick()
    const again = await refreshed(world, refresh_token)
    expect(claimsOf(again.access_token).groups).toEqual(['app:demo:user'])
  })

  it('who joined since the Workspace was read signs in at once; one it never had is told so', async () => {
    const nia = account('5', 'nia@acme.example')
    expect(await pageOf(await comeBack(world, { ...ADA, email: nia.address }), 403)).toContain('does not list this account')
    world.google.tenant.accounts.push(nia)
    group_of('g2')?.members.push(inAccount(nia))
    codeOf(await comeBack(world, { ...ADA, email: nia.address }))
  })
})

describe('while the directory can’t be asked', () => {
  it('who was known keeps their groups for the hold window; past it a refresh is refused, and nothing ends', async () => {
    let { refresh_token } = await signedIn(world)
    outage(world)
    for (let hours = 0; hours < 3; hours++) {
      world.store.clock.advance(HOUR)
      const tokens = await refreshed(world, refresh_token)
      refresh_token = tokens.refresh_token
      expect(claimsOf(tokens.access_token).groups).toEqual(['app:demo:user'])
    }
    codeOf(await comeBack(world))
    world.store.clock.advance(HOUR + 1)
    expect(await errorOf(await refresh(world, refresh_token), 503)).toMatchObject({ error: 'temporarily_unavailable' })
    await world.service.afterwards()
    expect(world.told).toEqual([])

    world.google.faults.length = 0
    await world.tick()
    world.store.clock.advance(MINUTE) // an isolate goes by the manifest it has for half of one
    await refreshed(world, refresh_token)
  })

  it('who was never known signs in nowhere, and is not said to be unknown', async () => {
    outage(world)
    world.store.clock.advance(HOUR)
    const html = await pageOf(await comeBack(world), 503)
    expect(html).not.toContain('does not list this account')
    expect(world.service.audit.events.filter(({ event }) => event === 'signin.refused')).toMatchObject([{ reason: 'not_kept' }])
  })

  it('whose sessions an operator has ended is not let back in', async () => {
    const nia = account('5', 'nia@acme.example')
    world.google.tenant.accounts.push(nia)
    group_of('g1')?.members.push(inAccount(nia))
    const asNia = { ...ADA, email: nia.address }
    codeOf(await comeBack(world, asNia))
    const operator = await sent(world) // Ada, of platform
    await operator.browser.get(world.okta.signIn(operator.location, ADA))

    outage(world)
    world.store.clock.advance(HOUR)
    codeOf(await comeBack(world, asNia))
    const ended = await operator.browser.ask('DELETE', `/api/sessions?person=${nia.address}`)
    expect(ended.status).toBe(200)
    expect((await comeBack(world, asNia)).status).toBe(503)
    codeOf(await comeBack(world))
  })

  it('because no Workspace answers for the domain any more, people are held too, then refused, and nothing ends', async () => {
    const { refresh_token } = await signedIn(world)
    await world.command({ command: 'workspace.disconnect', workspace: ID })
    world.store.clock.advance(MINUTE)
    const held = await refreshed(world, refresh_token)
    world.store.clock.advance(4 * HOUR)
    expect(await errorOf(await refresh(world, held.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    await world.service.afterwards()
    expect(world.told).toEqual([])

    await world.command({ command: 'workspace.connect', key: world.google.keyFile, admin: ADMIN })
    await world.tick()
    world.store.clock.advance(MINUTE)
    await refreshed(world, held.refresh_token)
  })
})

describe('while module google is under maintenance', () => {
  it('a Workspace is neither connected nor let go, not by half: its people are what they were', async () => {
    const { refresh_token } = await signedIn(world)
    const { state, secrets, blob } = world.stores
    await state.put(keys.maintenance, utf8('{}'), 'permanent')
    world.store.clock.advance(MINUTE)
    const before = await blob.list('')
    for (const command of ['disconnect', 'probe'] as const)
      await world.command({ command: `workspace.${command}`, workspace: ID }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'Unavailable', message: expect.stringContaining('under maintenance') })
      })
    const connecting = world.command({ command: 'workspace.connect', key: world.google.keyFile, admin: ADMIN, serve: [] })
    await expect(connecting).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await blob.list('')).toEqual(before)
    expect(await secrets.list('credentials/google')).toHaveLength(1)
    const { groups } = claimsOf((await refreshed(world, refresh_token)).access_token)
    expect(groups).toEqual(['app:demo:user'])
    expect(world.service.logs.join('\n')).not.toContain('directory.held')
  })
})

describe('whom the directory disowns', () => {
  it.each([
    ['suspended', () => Object.assign(account_of(ADA.email) ?? {}, { suspended: true })],
    ['archived', () => Object.assign(account_of(ADA.email) ?? {}, { archived: true })],
    ['deleted', () => world.google.tenant.accounts.splice(0, 1)],
    ['deleted, their address another’s now', () => giveAwayAddress()],
  ])('%s: their next refresh ends what they have, the client is told, and no outage brings them back', async (_, change) => {
    const { refresh_token, access_token } = await signedIn(world)
    change()
    world.store.clock.advance(15 * MINUTE)
    await world.tick()
    expect(await errorOf(await refresh(world, refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    await world.service.afterwards()
    expect(world.told).toMatchObject([{ client: 'demo', sub: ADA.email, sid: claimsOf(access_token).sid }])
    expect((await userinfo(world.service, access_token)).status).toBe(401)

    outage(world)
    world.store.clock.advance(HOUR)
    expect((await comeBack(world)).status).toBe(503)
  })
})

/** As an administrator does with the mail of who has left: the account goes, and its address becomes another's alias. */
function giveAwayAddress(): void {
  const { accounts, groups } = world.google.tenant
  accounts.splice(0, 1)
  const heir = account('8', 'heir@acme.example', { aliases: [ADA.email] })
  accounts.push(heir)
  groups[0]?.members.push(inAccount(heir))
}

describe('what the directory costs a refresh', () => {
  it('is one read of what is held, in the rounds there are, and no object where the isolate has read the person’s', async () => {
    const counter = countCalls()
    const world = await connectedAndRead(counter.wrap)
    const { refresh_token } = await signedIn(world)
    const blobs = { reads: 0 }
    const { blob } = world.stores
    const { read } = blob
    blob.read = (name) => {
      blobs.reads++
      return read(name)
    }
    counter.reset()
    const answer = await world.service.fetch('/token', {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token, client_id: 'demo' }),
    })
    expect(answer.status).toBe(200)
    expect([counter.count(), blobs.reads]).toEqual([{ writes: 3, reads: 3, rounds: 4 }, 0])
  })
})
