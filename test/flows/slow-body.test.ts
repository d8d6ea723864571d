import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { errorOf } from './answers.ts'
import { refresh, refreshed, startClients } from './clients.ts'
import { claimsOf, signedIn, type TestService, userinfo } from './harness.ts'

/** A form whose request is begun now; what sends its bytes and gives the answer. */
function slowly(service: TestService, path: string, form: Record<string, string>): () => Promise<Response> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = service.fetch(new Request(service.url + path, { method: 'POST', body: readable, headers }))
  return () => {
    const writer = writable.getWriter()
    void writer.write(utf8(new URLSearchParams(form).toString())).then(() => writer.close())
    return answer
  }
}

/** The handler has come to where it reads the body. */
function begun(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 5))
}

describe('a request whose body comes late', () => {
  it('RFC 9700 4.14.2: is judged when it is there: a token that was spent meanwhile is reuse, and no retry of its first use', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    // Who means to present what they are yet to steal holds a request open from before it is spent.
    const send = slowly(service, '/token', { grant_type: 'refresh_token', client_id: 'demo', refresh_token: first.refresh_token })
    await begun()
    store.clock.advance(10)
    const winner = await refreshed(service, first.refresh_token)
    store.clock.advance(33)
    expect(await errorOf(await send(), 400)).toMatchObject({ error: 'invalid_grant' })
    expect((await userinfo(service, winner.access_token)).status).toBe(401)
    expect((await refresh(service, winner.refresh_token)).status).toBe(400)
  })

  it('is answered with tokens that are as old as its last byte', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    const send = slowly(service, '/token', { grant_type: 'refresh_token', client_id: 'demo', refresh_token: first.refresh_token })
    await begun()
    store.clock.advance(600)
    const { access_token } = await (await send()).json<{ access_token: string }>()
    expect(claimsOf(access_token).iat).toBe(store.clock.now() / 1000)
  })
})
