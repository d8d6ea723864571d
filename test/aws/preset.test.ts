import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { secretAddress } from '../../src/ports/keys.ts'
import { type Account, type Isolate, openAccount, readiness, startFailure, startIsolate } from './preset-arrange.ts'
import { ADA, asClient, Browser, codeFor, inputsOf, pageThrough, redeem, refresh, signedIn, type Tokens, tokensIn } from './preset-walk.ts'

let account: Account
let isolate: Isolate

beforeAll(async () => {
  account = await openAccount()
  isolate = startIsolate(account.variables)
})
beforeEach(() => account.emulator.requests.reset())
afterAll(() => account[Symbol.asyncDispose]())

describe('with the policy that npm run iam prints for ROLE issuer, nothing is denied', () => {
  const walks: [string, () => Promise<unknown>][] = [
    ['a first start', () => readiness(startIsolate(account.variables))],
    ['the key set and discovery', async () => [await found('/keys'), await found('/.well-known/openid-configuration')]],
    ['a sign-in, an exchange, a refresh, userinfo', userinfoAfterRefresh],
    ['a client with a secret: its sign-in, introspection, revocation', introspectAndRevoke],
    ['a code that is replayed', replay],
    ['a device', device],
    ['what a person sees and ends of their own', ownAccount],
    ['what an operator sees and ends of everybody', sessionsApi],
    ['a sign-out', signOut],
  ]

  test.each(walks)('%s', async (_what, walk) => {
    await walk()
    expect(Object.keys(account.emulator.requests.refused).filter((type) => /AccessDenied/.test(type))).toEqual([])
    expect(account.emulator.requests.counts).not.toEqual({})
  })
})

describe('two isolates share nothing but the store', () => {
  test('20 refreshes at once of one token, over both, have one successor', async () => {
    const [first, second] = [startIsolate(account.variables), startIsolate(account.variables)]
    const { refresh_token } = await signedIn(first)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => refresh(n % 2 === 0 ? first : second, refresh_token)))
    const tokens = await Promise.all(answers.map(tokensIn))
    const successors = new Set(tokens.map((one) => one.refresh_token))
    expect(successors.size).toBe(1)
    expect(successors).not.toContain(refresh_token)
    for (const successor of successors) await tokensIn(await refresh(second, successor))
  })

  test('a sign-in begun at one goes on at the other, whose keys are the same', async () => {
    const [first, second] = [startIsolate(account.variables), startIsolate(account.variables)]
    const { access_token } = await tokensIn(await redeem(second, await codeFor(first)))
    expect((await userinfo(first, access_token)).status).toBe(200)
    expect(await (await first.fetch('/keys')).json()).toEqual(await (await second.fetch('/keys')).json())
  })
})

test('a parameter over the limit is refused, saying which limit', async () => {
  const writing = account.operator.secrets.put(secretAddress.client('large'), new Uint8Array(6_136))
  await expect(writing).rejects.toMatchObject({ code: 'TooLarge', message: expect.stringMatching(/6,?135/) })
})

describe('what it is not told: start.failed names the variable', () => {
  test.each([
    ['AWS_REGION', ['AWS_REGION']],
    ['AWS_OIDC_ACCESS_KEY_ID', ['AWS_OIDC_ACCESS_KEY_ID']],
    ['AWS_OIDC_SECRET_ACCESS_KEY', ['AWS_OIDC_SECRET_ACCESS_KEY']],
  ])('%s', (variable, words) => {
    const line = startFailure({ ...account.variables, [variable]: undefined })
    for (const word of words) expect(line).toContain(word)
    expect(line).not.toContain(account.issuer.secretAccessKey)
  })

  test('a role whose rooms this version lacks', () => {
    expect(startFailure({ ...account.variables, ROLE: 'controllers' })).toContain('ROLE controllers has no rooms in this version')
  })
})

test('credentials without a module’s name do, and /readyz warns of them', async () => {
  const { AWS_OIDC_ACCESS_KEY_ID: AWS_ACCESS_KEY_ID, AWS_OIDC_SECRET_ACCESS_KEY: AWS_SECRET_ACCESS_KEY, ...others } = account.variables
  const isolate = startIsolate({ ...others, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY })
  const { status, warnings } = await readiness(isolate)
  expect([status, warnings]).toEqual([200, [expect.stringMatching(/^credentials: AWS_OIDC_ACCESS_KEY_ID is not set/)]])
  await signedIn(isolate)
  expect((await readiness(startIsolate(account.variables))).warnings).toBeUndefined()
})

async function userinfoAfterRefresh(): Promise<void> {
  const { refresh_token } = await signedIn(isolate)
  const { access_token } = await tokensIn(await refresh(isolate, refresh_token))
  expect(await (await userinfo(isolate, access_token)).json()).toMatchObject({ sub: ADA })
}

async function introspectAndRevoke(): Promise<void> {
  const { access_token, refresh_token } = await signedIn(isolate, 'backend')
  const active = async () => (await asClient(isolate, '/introspect', 'backend', { token: access_token })).json()
  expect(await active()).toMatchObject({ active: true, sub: ADA })
  expect((await asClient(isolate, '/revoke', 'backend', { token: refresh_token })).status).toBe(200)
  expect(await active()).toEqual({ active: false })
}

async function replay(): Promise<void> {
  const code = await codeFor(isolate)
  const { access_token } = await tokensIn(await redeem(isolate, code))
  expect((await redeem(isolate, code)).status).toBe(400)
  expect((await userinfo(isolate, access_token)).status).toBe(401)
}

async function device(): Promise<void> {
  const form = { client_id: 'native', scope: 'openid offline_access' }
  const begun = await isolate.fetch('/device_authorization', { method: 'POST', body: new URLSearchParams(form) })
  const { device_code, user_code }: { device_code: string; user_code: string } = JSON.parse(await begun.text())
  const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code, client_id: 'native' }
  const poll = () => isolate.fetch('/token', { method: 'POST', body: new URLSearchParams(grant) })
  expect(await (await poll()).json()).toMatchObject({ error: 'authorization_pending' })
  const browser = new Browser()
  const asked = await pageThrough(isolate, browser, await browser.post(isolate, '/device', { user_code }))
  const allowed = await browser.post(isolate, '/device', { ...inputsOf(asked), action: 'allow' })
  expect([allowed.status, await allowed.text()]).toEqual([200, expect.stringContaining('Your device is signed in')])
  const { refresh_token } = await tokensIn(await poll())
  const again = { grant_type: 'refresh_token', refresh_token, client_id: 'native' }
  await tokensIn(await isolate.fetch('/token', { method: 'POST', body: new URLSearchParams(again) }))
}

async function ownAccount(): Promise<void> {
  const browser = new Browser()
  const { access_token } = await signedIn(isolate, 'demo', browser)
  expect(await pageThrough(isolate, browser, await browser.get(isolate, '/account'))).toContain('End everything')
  expect((await browser.post(isolate, '/account', { everything: 'yes' })).status).toBeLessThan(400)
  expect((await userinfo(isolate, access_token)).status).toBe(401)
}

async function sessionsApi(): Promise<void> {
  const browser = new Browser()
  const { id_token } = await signedIn(isolate, 'demo', browser)
  const { sid }: { sid: string } = JSON.parse(atob((id_token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))
  for (const query of ['', '?client=demo']) {
    const listed = await browser.ask(isolate, 'GET', `/api/sessions${query}`)
    expect([listed.status, await listed.text()], query).toEqual([200, expect.stringContaining(sid)])
  }
  expect(await (await browser.ask(isolate, 'DELETE', `/api/sessions/${sid}`)).json()).toEqual({ ended: 1 })
  expect((await browser.ask(isolate, 'DELETE', '/api/sessions?client=backend')).status).toBe(200)
}

async function signOut(): Promise<void> {
  const browser = new Browser()
  const tokens: Tokens = await signedIn(isolate, 'demo', browser)
  await browser.get(isolate, `/end_session?${new URLSearchParams({ id_token_hint: tokens.id_token })}`)
  expect((await userinfo(isolate, tokens.access_token)).status).toBe(401)
}

async function found(path: string): Promise<void> {
  expect((await isolate.fetch(path)).status).toBe(200)
}

function userinfo(at: Isolate, accessToken: string): Promise<Response> {
  return at.fetch('/userinfo', { headers: { authorization: `Bearer ${accessToken}` } })
}
