import { describe, expect, it } from 'vitest'
import { authorizeUrl, engines, exchange, TestBrowser, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { anotherTab, codeIn, freshCode, handedOut, redemption, warmIsolate } from './arrange.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { accepted, sessionsOf, signInOf } from './observe.ts'
import { endSessionsUnder, endSignIn } from './sign-out.ts'

const asNative = { client_id: 'native', redirect_uri: 'http://localhost/callback' }

/** Whether the sign-in has let the client in before. */
const clients: [string, Record<string, string>][] = [
  ['a client it has let in', {}],
  ['a client that is new to it', asNative],
]

describe.each(engines)('a silent sign-in on %s', (engine) => {
  it.each(clients.flatMap(([what, client]) => faultsOn[engine].map((fault) => ({ what, client, fault }))))(
    'at $what, whose store $fault at any call, leaves the person signed in, and the next one completes without a page',
    async ({ client, fault }) => {
      const store = testStore(engine)
      const setting = { store, judge: await warmIsolate(store), client }
      for (let nth = 1, struck = true; struck; nth++) struck = await staysSignedIn(fault, nth, setting)
    },
  )
})

interface Setting {
  store: TestStore
  judge: TestService
  client: Record<string, string>
}

/** False when it made fewer calls than `nth`, so that nothing befell it. */
async function staysSignedIn(fault: Fault, nth: number, { store, judge, client }: Setting): Promise<boolean> {
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  const browser = new TestBrowser(judge)
  await freshCode(judge, browser)
  const before = await signInOf(judge, browser)

  luck.strikes(fault, nth)
  const url = await authorizeUrl({ ...client, prompt: 'none' })
  const first = await luck.outcome(anotherTab(browser, victim).get(url))
  const struck = luck.calls.length >= nth
  if (!struck) expect(first === 'stopped' ? null : codeIn(first)).not.toBeNull()
  // Told to come again, or that a page is needed: never that it is somebody else's doing.
  if (first !== 'stopped' && codeIn(first) === null) expect(errorIn(first)).toBe('temporarily_unavailable')

  const retried = await browser.get(url)
  const code = codeIn(retried)
  expect({ nth, code }).toEqual({ nth, code: expect.any(String) })
  const after = await signInOf(judge, browser)
  expect(after?.id).toBe(before?.id)
  expect(after?.auth_time).toBe(before?.auth_time)
  expect(new Set(after?.clients)).toEqual(new Set([...(before?.clients ?? []), client.client_id ?? 'demo']))

  // What it opens is within the reach of the sign-in's end.
  const tokens = handedOut(await redemption(await exchange(judge, code ?? '', client)))
  expect(await accepted(judge, tokens)).toHaveLength(1)
  await endSignIn(judge, after?.id ?? '')
  await endSessionsUnder(judge, after?.id ?? '')
  expect(await accepted(judge, tokens)).toEqual([])
  expect(await sessionsOf(judge)).toEqual([])
  expect(codeIn(await browser.get(url))).toBeNull()
  return struck
}

function errorIn(answer: Response): string | null {
  return new URL(answer.headers.get('location') ?? 'about:blank').searchParams.get('error')
}
