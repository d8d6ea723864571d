import { expect } from 'vitest'
import { at, startClients } from './clients.ts'
import { type Engine, TestBrowser, type TestService, type TestStore, type Tokens, userinfo } from './harness.ts'

export const BYE = 'https://demo.acme.example/bye'
export const FORGET = 'https://demo.acme.example/forget'
export const COOKIE = 'sluis_sso'
export const HERE = 'http://localhost:8787'

type Documents = TestStore['documents']

/** Clients that may send people back after a sign-out. */
export function withSignedOut({ policy }: Documents): void {
  Object.assign(policy.clients.demo ?? {}, { signed_out: [BYE, `${BYE}?from=sluis`, 'com.acme.demo:/bye'] })
  Object.assign(policy.clients.native ?? {}, { signed_out: ['http://127.0.0.1:7777/bye'] })
}

/** The demo client is told in the browser. */
export function withFrontChannel(documents: Documents): void {
  withSignedOut(documents)
  Object.assign(documents.policy.clients.demo ?? {}, { frontchannel_logout_uri: FORGET })
}

/** Ada at two clients in one browser, and at one of them in another. */
export async function signedInWorld(engine: Engine = 'memory', edit: (documents: Documents) => void = withSignedOut) {
  const { service, store } = await startClients(engine, edit)
  const [browser, other] = [new TestBrowser(service), new TestBrowser(service)]
  const demo = await at(service, 'demo', { browser })
  const native = await at(service, 'native', { browser })
  const elsewhere = await at(service, 'demo', { browser: other })
  return { service, store, browser, other, demo, native, elsewhere }
}

export async function isAlive(service: TestService, tokens: Tokens): Promise<boolean> {
  return (await userinfo(service, tokens.access_token)).status === 200
}

/** The browser is signed out, and with it both of its clients; the other browser is not. */
export async function expectOver({ service, browser, other, demo, native, elsewhere }: Awaited<ReturnType<typeof signedInWorld>>) {
  expect(browser.cookies.has(COOKIE)).toBe(false)
  expect(await Promise.all([demo, native, elsewhere].map((tokens) => isAlive(service, tokens)))).toEqual([false, false, true])
  expect((await browser.get('/account')).status).toBe(303)
  expect((await other.get('/account')).status).toBe(200)
}

/** The frames of a page. */
export function framesIn(html: string): string[] {
  return [...html.matchAll(/<iframe src="([^"]+)"/g)].map(([, src = '']) => src.replaceAll('&amp;', '&'))
}
