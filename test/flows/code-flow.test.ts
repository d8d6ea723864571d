import { describe, expect, it } from 'vitest'
import { claimsOf, engines, exchange, signedIn, signIn, startService, TestBrowser, testStore, userinfo } from './harness.ts'

describe.each(engines)('the code flow on %s', (engine) => {
  it('signs a person in, and answers who they are', async () => {
    const service = startService(testStore(engine))
    const tokens = await signedIn(service)

    expect(claimsOf(tokens.id_token)).toMatchObject({ sub: 'ada@acme.example', aud: 'demo', nonce: 'the nonce', groups: ['app:demo:user'] })
    const answer = await userinfo(service, tokens.access_token)
    expect(await answer.json()).toEqual({
      sub: 'ada@acme.example',
      email: 'ada@acme.example',
      email_verified: true,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      preferred_username: 'ada@acme.example',
      groups: ['app:demo:user'],
    })
  })

  it('ends what a code opened when the code is presented again', async () => {
    const service = startService(testStore(engine))
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    const first = await exchange(service, code)
    const { access_token } = await first.json<{ access_token: string }>()
    expect((await userinfo(service, access_token)).status).toBe(200)

    const second = await exchange(service, code)
    expect(await second.json()).toMatchObject({ error: 'invalid_grant' })
    expect((await userinfo(service, access_token)).status).toBe(401)
  })
})
