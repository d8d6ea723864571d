import { expect, it } from 'vitest'
import type { Fetch } from '../../src/ports/platform.ts'
import { createLogoutRow } from '../../src/records/logout-row.ts'
import { createSession, createSessionPointer, type Session } from '../../src/records/session.ts'
import { ADA, clientStore, HOUR } from '../flows/clients.ts'
import { claimsOf, contents, exchange, signIn, startService, TestBrowser, type TestStore } from '../flows/harness.ts'
import { interceptCalls } from './port-calls.ts'

const SESSIONS = 1_000
const CLIENTS = 50
const CALL = 5 // ms: what a store in the same region takes
const MOST_CALLS = 800

/** The clients of a policy, and many more that are told. */
async function storeOfManyClients(): Promise<TestStore> {
  return clientStore('memory', ({ policy }) => {
    const { demo } = policy.clients
    if (demo === undefined) throw new Error('the dev policy has a demo client')
    for (let n = 0; n < CLIENTS; n++) policy.clients[`c${n}`] = { ...demo, backchannel_logout_uri: `http://localhost:3999/c${n}` }
  })
}

/** Sessions of Ada's under one sign-in, as exchanges leave them. */
async function openSessions(store: TestStore, sso: string): Promise<void> {
  const { state } = store.adapters()
  const now = Math.floor(store.clock.now() / 1000)
  for (let n = 0; n < SESSIONS; n++) {
    const times = { auth_time: now, issued_at: now, expires_at: now + HOUR }
    const session: Session = { id: `s${n}`, identity: ADA, client_id: `c${n % CLIENTS}`, how: 'code', scopes: [], sso, ...times }
    await createSession(state, session, HOUR)
    await createSessionPointer(state, session, HOUR)
    const address = { backchannel_logout_uri: `http://localhost:3999/c${n % CLIENTS}` }
    await createLogoutRow(state, { sid: session.id, subject: ADA, client_id: session.client_id, ...address, expires_at: now + HOUR }, now)
  }
}

it(`${SESSIONS} sessions over ${CLIENTS} clients end with one sign-out: each is told, no invocation makes over ${MOST_CALLS} calls`, {
  timeout: 60_000,
}, async () => {
  const store = await storeOfManyClients()
  let calls = 0
  const told: string[] = []
  const slowly = async <T>(answer: () => Promise<T>): Promise<T> => {
    calls++
    await new Promise((wait) => setTimeout(wait, CALL))
    return answer()
  }
  const outside: Fetch = (input, init) =>
    slowly(async () => {
      const { sid, aud } = claimsOf(new URLSearchParams(String(init?.body)).get('logout_token') ?? '')
      told.push(`${new URL(String(input)).pathname} ${aud} ${sid}`)
      return new Response(null, { status: 204 })
    })
  const service = startService(store, (adapters) => interceptCalls(adapters, (_call, apply) => slowly(apply)), outside)
  const browser = new TestBrowser(service)
  await exchange(service, (await signIn(browser)).searchParams.get('code') ?? '')
  const [signInKey = ''] = Object.keys(await contents(store)).filter((key) => key.startsWith('sso.'))
  await openSessions(store, signInKey.slice('sso.'.length))

  calls = 0
  const began = performance.now()
  expect((await browser.post('/logout', {})).status).toBe(303)
  const took = performance.now() - began
  expect(took).toBeLessThan(2_000)
  await service.afterwards()
  const perInvocation = [calls]

  for (let more = true; more; ) {
    calls = 0
    more = (await service.tick()) === 'more'
    perInvocation.push(calls)
    expect(perInvocation.length).toBeLessThan(40)
  }
  console.log(`a sign-out of ${SESSIONS} sessions answered in ${took.toFixed(0)} ms; calls of each invocation: ${perInvocation.join(', ')}`)
  expect(Math.max(...perInvocation)).toBeLessThanOrEqual(MOST_CALLS)
  expect(told.sort()).toEqual(Array.from({ length: SESSIONS }, (_, n) => `/c${n % CLIENTS} c${n % CLIENTS} s${n}`).sort())
  expect(Object.keys(await contents(store)).filter((key) => /^(?:ses|sid|sso|logout|logout-due)\./.test(key))).toEqual([])
})
