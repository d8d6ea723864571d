import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { secretAddress } from '../../src/ports/keys.ts'
import { tableName } from '../../src/ports/layout5.ts'
import { type Account, type Isolate, openAccount, readiness, spoil, startIsolate } from './preset-arrange.ts'
import { begun, records, sealing, secrets, withoutPermission, withParameter } from './preset-troubles.ts'
import { authorizePath, Browser, type Client, codeFor, openForm, redeem, refresh, signedIn, submit, tokensIn } from './preset-walk.ts'

let account: Account
let healthy: Isolate

beforeAll(async () => {
  account = await openAccount()
  healthy = startIsolate(account.variables)
  expect((await readiness(healthy)).status).toBe(200)
})
afterEach(() => account.emulator.faults.clear())
afterAll(() => account[Symbol.asyncDispose]())

describe('/readyz says which and what to do, without an account, an ARN, a key or a host, and /healthz is well', () => {
  test.each([...records, ...sealing, ...secrets])('$what', async (trouble) => {
    const inTrouble = await begun(account, trouble)
    const { status, text, checks } = await readiness(inTrouble.isolate)
    const healthz = await inTrouble.isolate.fetch('/healthz')
    await inTrouble.mend()

    expect([status, healthz.status]).toEqual([503, 200])
    for (const [check, words] of Object.entries(trouble.says))
      expect(checks[check], text).toEqual(words instanceof RegExp ? expect.stringMatching(words) : expect.stringContaining(words))
    expect(text).not.toMatch(/\d{12}|arn:|AKIA|https?:|127\.0\.0\.1|localhost|amazonaws/)
    expect((await readiness(startIsolate(account.variables))).status).toBe(200)
  })

  test('a table that is keyed otherwise', async () => {
    const instance = 'otherwise'
    const TableName = tableName(instance, 'oidc')
    const AttributeDefinitions = [{ AttributeName: 'id', AttributeType: 'S' }]
    const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' }]
    await account.operator.call('dynamodb', 'CreateTable', { TableName, AttributeDefinitions, KeySchema, BillingMode: 'PAY_PER_REQUEST' })
    const policy = account.issuer.policy
    delete account.issuer.policy // the credentials are right, and the table is wrong
    const isolate = startIsolate({ ...account.variables, INSTANCE: instance })
    await expect
      .poll(async () => (await readiness(isolate)).checks[`table ${TableName}`])
      .toBe(
        `unavailable: table ${TableName} is keyed by id S HASH, not by pk S HASH, sk S RANGE: it is no table of this layout, name another`,
      )
    await expectTemporarily(await isolate.fetch('/token', tokenRequest()))
    Object.assign(account.issuer, { policy })
  })

  test('a table that was never made', async () => {
    const isolate = startIsolate({ ...account.variables, INSTANCE: 'never' })
    const policy = account.issuer.policy
    delete account.issuer.policy
    const { status, checks } = await readiness(isolate)
    Object.assign(account.issuer, { policy })
    expect([status, checks.store]).toEqual([
      503,
      'unavailable: table sluis-never-oidc does not exist in this region: npm run tables creates it',
    ])
  })
})

describe('RFC 6749 4.1.2.1, 5.2: it is temporarily_unavailable, and the same form, code and refresh token are good afterwards', () => {
  test.each(records)('$what', async (trouble) => {
    const form = await openForm(healthy)
    const code = await codeFor(healthy)
    const { refresh_token } = await signedIn(healthy)
    const { isolate, mend } = await begun(account, trouble)
    const answers = {
      authorize: await new Browser().get(isolate, authorizePath()),
      submit: await submit(isolate, form),
      redeem: await redeem(isolate, code),
      refresh: await refresh(isolate, refresh_token),
    }
    // What befalls the account befalls an isolate that has its keys, too.
    const warm = trouble.begin === undefined ? [] : [await redeem(healthy, code), await refresh(healthy, refresh_token)]
    await mend()
    for (const answer of warm) await expectTemporarily(answer)

    const back = new URL(answers.authorize.headers.get('location') ?? '')
    expect([back.origin + back.pathname, back.searchParams.get('error')]).toEqual(['http://localhost:8787/demo', 'temporarily_unavailable'])
    expect([answers.submit.status, await answers.submit.text()]).toEqual([503, expect.stringContaining('temporarily_unavailable')])
    await expectTemporarily(answers.redeem)
    await expectTemporarily(answers.refresh)
    const after = startIsolate(account.variables)
    expect(new URL((await submit(after, form)).headers.get('location') ?? '').searchParams.get('code')).toMatch(/^slc_/)
    await tokensIn(await redeem(after, code))
    await tokensIn(await refresh(after, refresh_token))
  })

  test.each(sealing)('$what', async (trouble) => {
    const code = await codeFor(healthy)
    const { refresh_token } = await signedIn(healthy)
    const { isolate, mend } = await begun(account, trouble)
    const answers = [await redeem(isolate, code), await refresh(isolate, refresh_token)]
    await mend()
    for (const answer of answers) await expectTemporarily(answer)
    const after = startIsolate(account.variables)
    await tokensIn(await redeem(after, code))
    await tokensIn(await refresh(after, refresh_token))
  })

  test.each<[string, (of: Account) => Promise<() => unknown> | (() => unknown)]>([
    ['its parameter may not be read', (of) => withoutPermission(of, 'ssm:')],
    ['its parameter is no document', (of) => withParameter(of, secretAddress.client('backend'), 'no JSON')],
  ])('a client with a secret is told nothing of its secret: %s', async (_what, begin) => {
    const client: Client = 'backend'
    const code = await codeFor(healthy, client)
    const { isolate, mend } = await begun(account, { what: '', begin, says: {} })
    const answer = await redeem(isolate, code, client)
    await mend()
    await expectTemporarily(answer)
    await tokensIn(await redeem(startIsolate(account.variables), code, client))
  })
})

describe('an item that does not parse is as good as absent, and is good again once it is mended', () => {
  const spoilt: [string, { B: string } | { S: string }][] = [
    ['a value that is no JSON', { B: btoa('no JSON') }],
    ['a value of another type', { S: 'text' }],
  ]

  test.each(spoilt)('a request: %s', async (_what, v) => {
    const form = await openForm(healthy)
    const mend = await spoil(account, 'req.', v)
    const answer = await submit(startIsolate(account.variables), form)
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    await mend()
    expect((await submit(healthy, form)).status).toBe(303)
  })

  test.each(spoilt)('a session: %s', async (_what, v) => {
    const { refresh_token } = await signedIn(healthy)
    const mend = await spoil(account, 'ses.', v)
    const answer = await refresh(startIsolate(account.variables), refresh_token)
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    await mend()
    await tokensIn(await refresh(healthy, refresh_token))
  })

  test('a session: the log says which kind does not parse', async () => {
    const { refresh_token } = await signedIn(healthy)
    const mend = await spoil(account, 'ses.', { B: btoa('no JSON') })
    const isolate = startIsolate(account.variables)
    await refresh(isolate, refresh_token)
    await mend()
    expect(isolate.logs.join('\n')).toMatch(/"event":"record.unreadable".*"kind":"ses\./)
  })
})

function tokenRequest(): RequestInit {
  return { method: 'POST', body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'slr_any', client_id: 'demo' }) }
}

async function expectTemporarily(answer: Response): Promise<void> {
  const text = await answer.text()
  expect([answer.status, JSON.parse(text)], text).toMatchObject([503, { error: 'temporarily_unavailable' }])
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
}
