import { decodeJwt, decodeProtectedHeader, importPKCS8, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { type GoogleClientParts, googleClient } from '../../src/directory/google/client.ts'
import { BRISK, PATIENT } from '../../src/directory/google/exchange.ts'
import { OutOfCalls } from '../../src/directory/google/google-error.ts'
import { parseServiceAccount, SCOPES } from '../../src/directory/google/service-account.ts'
import { type FakeGoogle, fakeGoogle } from './fake-google.ts'
import { answering, quotaExceeded } from './faults.ts'
import { ADMIN, generatedTenant, smallTenant } from './tenant.ts'

async function arrange(more: Partial<GoogleClientParts> = {}, tenant = smallTenant()) {
  const clock = { at: 1_796_000_000_000, now: () => clock.at }
  const google = await fakeGoogle({ tenant, clock })
  const waits: number[] = []
  const account = await parseServiceAccount(google.keyFile, google.endpoints)
  const parts: GoogleClientParts = {
    ...{
      fetch: google.fetch,
      clock,
      random: { bytes: (length) => new Uint8Array(length) },
      spend() {},
      patience: PATIENT,
      tokens: new Map(),
    },
    ...{ identity: { account, admin: ADMIN }, endpoints: google.endpoints },
    wait: async (ms) => void waits.push(ms),
    ...more,
  }
  return { google, clock, waits, parts, client: googleClient(parts) }
}

describe('the client of the directory', () => {
  it('asks as the admin, with the four scopes and no fifth, and keeps the token until five minutes before its end', async () => {
    const sent: string[] = []
    const made = await arrange()
    const fetch: GoogleClientParts['fetch'] = (input, init) => {
      if (String(input).endsWith('/token')) sent.push(new URLSearchParams(String(init?.body)).get('assertion') ?? '')
      expect(init?.redirect).toBe('manual')
      return made.google.fetch(input, init)
    }
    const client = googleClient({ ...made.parts, fetch })
    await client.probe()
    expect(decodeProtectedHeader(sent[0] ?? '')).toMatchObject({ alg: 'RS256', kid: 'f00dfeed' })
    const { scope, sub, aud } = decodeJwt(sent[0] ?? '')
    expect({ scope, sub, aud }).toEqual({ scope: SCOPES.join(' '), sub: ADMIN, aud: made.google.endpoints.token })
    made.clock.at += 3_298_000
    await client.probe()
    expect(sent).toHaveLength(1)
    made.clock.at += 1_000
    await client.probe()
    expect(sent).toHaveLength(2)
  })

  it('reads every page, of 200 whatever is asked for', async () => {
    const { client, google } = await arrange({}, generatedTenant({ people: 450, groups: 1, seed: 2 }))
    const addresses = new Set<string>()
    let page: string | undefined
    do {
      const { items, next } = await client.accounts(page)
      for (const { address } of items) addresses.add(address)
      page = next
    } while (page !== undefined)
    expect(addresses.size).toBe(450)
    expect(google.requests.filter((request) => request.includes('/users?'))).toHaveLength(3)
  })

  it('knows verified domains only', async () => {
    expect(await (await arrange()).client.tenant()).toEqual({ id: 'C01acme', domains: ['acme-labs.example', 'acme.example'] })
  })

  it('waits longer each time, as long as it is told to, and not longer than whoever asks can', async () => {
    const { client, google, waits, clock, parts } = await arrange()
    google.faults.push(quotaExceeded('/groups', 3))
    await client.groups()
    expect(waits).toEqual([250, 500, 1_000])
    waits.length = 0
    google.faults.push(quotaExceeded('/groups', 1, 'rateLimitExceeded', { 'retry-after': new Date(clock.at + 9_000).toUTCString() }))
    await client.groups()
    expect(waits).toEqual([9_000])

    waits.length = 0
    google.faults.push(quotaExceeded('/groups', 1, 'quotaExceeded', { 'retry-after': '9' }))
    await expect(googleClient({ ...parts, patience: BRISK }).groups()).rejects.toMatchObject({ code: 'away' })
    expect(waits).toEqual([])
  })

  it('counts each request before it is sent, those that are sent again too', async () => {
    let left = 5
    const { client, google } = await arrange({
      spend() {
        if (left === 0) throw new OutOfCalls()
        left -= 1
      },
    })
    google.faults.push(quotaExceeded('/groups', 99))
    await expect(client.groups()).rejects.toBeInstanceOf(OutOfCalls)
    expect(google.requests).toHaveLength(5)
  })

  it('takes no answer that is too large, or too slow', async () => {
    const { google, parts } = await arrange()
    google.faults.push(answering('/groups', 'x'.repeat(4_194_305)))
    await expect(googleClient(parts).groups()).rejects.toMatchObject({ code: 'garbage' })
    const patience = { attempts: 2, timeout: 30, longestWait: 1_000 }
    const slow: FakeGoogle['fetch'] = (input, init) =>
      String(input).includes('/groups') ? new Promise(() => {}) : google.fetch(input, init)
    await expect(googleClient({ ...parts, patience, fetch: slow }).groups()).rejects.toMatchObject({
      code: 'away',
    })
  })

  it('stops waiting when whoever asks has given up', async () => {
    const given = new AbortController()
    const { google, parts } = await arrange()
    google.faults.push(quotaExceeded('/groups', 99))
    const asked = googleClient({ ...parts, signal: given.signal, wait: () => new Promise(() => {}) }).groups()
    setTimeout(() => given.abort(new Error('the lease is lost')), 20)
    await expect(asked).rejects.toThrow('the lease is lost')
  })

  it('says what of a token’s refusal an operator can mend', async () => {
    const { google, client } = await arrange()
    google.revokeKey()
    await expect(client.probe()).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('the key is deleted') })
    google.faults.push(answering('/token', { error: 'new_error', error_description: 'secret' }, 400))
    await expect(client.probe()).rejects.toMatchObject({ code: 'garbage', message: expect.not.stringContaining('secret') })
    google.faults[0] = answering('/token', { access_token: '', expires_in: 3_600, token_type: 'Bearer' })
    await expect(client.probe()).rejects.toMatchObject({ code: 'garbage' })
  })
})

describe('the fake Google', () => {
  const claims = { scope: SCOPES.join(' '), sub: ADMIN }

  async function grant(google: FakeGoogle, change: Record<string, unknown>, kid = 'f00dfeed'): Promise<number> {
    const now = 1_796_000_000
    const { private_key, client_email } = JSON.parse(google.keyFile)
    const assertion = await new SignJWT({ iss: client_email, aud: google.endpoints.token, iat: now, exp: now + 300, ...claims, ...change })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(await importPKCS8(private_key, 'RS256'))
    const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion })
    return (await google.fetch(google.endpoints.token, { method: 'POST', body })).status
  }

  it('gives a token for what we sign, and for nothing that is wrong in any part', async () => {
    const { google } = await arrange()
    expect(await grant(google, {})).toBe(200)
    for (const change of [
      { scope: SCOPES.slice(1).join(' ') },
      { scope: `${claims.scope} openid` },
      { aud: 'https://elsewhere.example/token' },
      { iss: 'other@acme.example' },
      { sub: 'ada@acme.example' },
      { sub: undefined },
      { exp: 1_795_999_000 },
      { exp: 1_796_007_300 },
    ])
      expect(await grant(google, change), JSON.stringify(change)).toBeGreaterThanOrEqual(400)
    expect(await grant(google, {}, 'another')).toBe(400)
  })

  it('answers nobody without a token that it gave, and refuses what is not documented', async () => {
    const { google, client, parts } = await arrange()
    await client.probe()
    const [{ token } = { token: '' }] = [...parts.tokens.values()]
    const get = async (path: string, bearer = token) =>
      (await google.fetch(`${google.endpoints.directory}${path}`, { headers: { authorization: `Bearer ${bearer}` } })).status
    expect(await get('/users?customer=my_customer', 'made-up')).toBe(401)
    expect(await get('/users?customer=my_customer')).toBe(200)
    for (const path of ['/users', '/users?customer=my_customer&pageSize=9', '/groups?customer=my_customer&pageToken=bm8', '/groups'])
      expect(await get(path), path).toBe(400)
    expect(await get('/orgunits')).toBe(404)
  })
})
