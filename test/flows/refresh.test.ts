import { describe, expect, it } from 'vitest'
import { claimsOf, engines, signedIn, startService, type TestService, type Tokens, testStore, userinfo } from './harness.ts'

export function refresh(service: TestService, token: string, changes: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token, client_id: 'demo', ...changes })
  return service.fetch('/token', { method: 'POST', body })
}

describe.each(engines)('refresh on %s', (engine) => {
  it('RFC 6749 section 6: a refresh answers new tokens of the same session, and a new refresh token', async () => {
    const service = startService(testStore(engine))
    const first = await signedIn(service)
    const answer = await refresh(service, first.refresh_token)
    const second = await answer.json<Tokens>()
    expect(answer.status).toBe(200)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(claimsOf(second.id_token)).toMatchObject({
      sub: 'ada@acme.example',
      sid: claimsOf(first.id_token).sid,
      auth_time: claimsOf(first.id_token).auth_time,
    })
    expect(claimsOf(second.id_token)).not.toHaveProperty('nonce')
    expect((await userinfo(service, second.access_token)).status).toBe(200)
  })

  it('100 parallel refreshes of one token are answered with one successor', async () => {
    const store = testStore(engine)
    const isolates = Array.from({ length: 10 }, () => startService(store))
    const [service] = isolates
    if (service === undefined) throw new Error()
    const { refresh_token } = await signedIn(service)
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => refresh(isolates[at % 10] ?? service, refresh_token)))
    const tokens = await Promise.all(answers.map((answer) => answer.json<Tokens>()))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect(new Set(tokens.map((token) => token.refresh_token)).size).toBe(1)
  })

  it('a spent token after the grace ends its session; within tolerance nothing ends', async () => {
    const store = testStore(engine)
    const service = startService(store)
    const first = await signedIn(service)
    const second = await (await refresh(service, first.refresh_token)).json<Tokens>()
    store.clock.advance(31)
    expect((await refresh(service, first.refresh_token)).status).toBe(400)
    expect((await userinfo(service, second.access_token)).status).toBe(200)
    store.clock.advance(3)
    expect((await refresh(service, first.refresh_token)).status).toBe(400)
    expect((await userinfo(service, second.access_token)).status).toBe(401)
    expect((await refresh(service, second.refresh_token)).status).toBe(400)
  })
})
