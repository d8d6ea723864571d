import type { Isolate } from './preset-arrange.ts'

export const ADA = 'ada@acme.example'

export interface Tokens {
  access_token: string
  id_token: string
  refresh_token: string
}

/** A browser's cookies. They are good at every isolate. */
export class Browser {
  private readonly cookies = new Map<string, string>()

  get(isolate: Isolate, path: string): Promise<Response> {
    return this.send(isolate, path, { headers: { accept: 'text/html', 'sec-fetch-site': 'none' } })
  }

  post(isolate: Isolate, path: string, form: Record<string, string>): Promise<Response> {
    const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }
    return this.send(isolate, path, { method: 'POST', headers, body: new URLSearchParams(form) })
  }

  /** What a script of a page asks. */
  ask(isolate: Isolate, method: string, path: string): Promise<Response> {
    return this.send(isolate, path, { method, headers: { 'sec-fetch-site': 'same-origin' } })
  }

  private async send(isolate: Isolate, path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await isolate.fetch(path, { ...init, headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }
}

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' // RFC 7636 appendix B
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' // of the same

/** Where programs of the dev documents are, and how the one with a secret proves itself. */
const redirects = { demo: 'http://localhost:8787/demo', backend: 'http://localhost:3000/callback' }
export type Client = keyof typeof redirects
const proofs: Record<Client, Record<string, string>> = {
  demo: {},
  backend: { authorization: `Basic ${btoa(`backend:${encodeURIComponent('secret of backend')}`)}` },
}

export function authorizePath(client: Client = 'demo'): string {
  const parameters = {
    client_id: client,
    redirect_uri: redirects[client],
    response_type: 'code',
    scope: 'openid profile email offline_access',
    state: 'the state',
    nonce: 'the nonce',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    prompt: 'login',
  }
  return `/authorize?${new URLSearchParams(parameters)}`
}

/** The form of a sign-in page that somebody has before them. */
export interface Form {
  browser: Browser
  auth: string
}

export async function openForm(isolate: Isolate, client?: Client, browser = new Browser()): Promise<Form> {
  const answer = await browser.get(isolate, authorizePath(client))
  const auth = new URL(answer.headers.get('location') ?? '', isolate.url).searchParams.get('auth')
  if (auth === null) throw new Error(`no form: ${answer.status} ${await answer.text()}`)
  return { browser, auth }
}

export function submit(isolate: Isolate, { browser, auth }: Form): Promise<Response> {
  return browser.post(isolate, '/login/picker', { auth, person: ADA })
}

/** A code that was not redeemed yet. */
export async function codeFor(isolate: Isolate, client?: Client, browser?: Browser): Promise<string> {
  const answer = await submit(isolate, await openForm(isolate, client, browser))
  const code = new URL(answer.headers.get('location') ?? '', isolate.url).searchParams.get('code')
  if (code === null) throw new Error(`no code: ${answer.status} ${await answer.text()}`)
  return code
}

export function redeem(isolate: Isolate, code: string, client: Client = 'demo'): Promise<Response> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirects[client], code_verifier: verifier }
  return asClient(isolate, '/token', client, form)
}

export function refresh(isolate: Isolate, refresh_token: string, client: Client = 'demo'): Promise<Response> {
  return asClient(isolate, '/token', client, { grant_type: 'refresh_token', refresh_token })
}

export function asClient(isolate: Isolate, path: string, client: Client, form: Record<string, string>): Promise<Response> {
  return isolate.fetch(path, { method: 'POST', headers: proofs[client], body: new URLSearchParams({ client_id: client, ...form }) })
}

export async function signedIn(isolate: Isolate, client?: Client, browser?: Browser): Promise<Tokens> {
  return tokensIn(await redeem(isolate, await codeFor(isolate, client, browser), client))
}

export async function tokensIn(answer: Response): Promise<Tokens> {
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${text}`)
  return JSON.parse(text)
}

/** The page an answer is or leads to, past a sign-in where it asks for one. */
export async function pageThrough(isolate: Isolate, browser: Browser, answer: Response): Promise<string> {
  let shown = answer
  for (let hop = 0; hop < 4; hop++) {
    const location = shown.headers.get('location')
    if (location === null) return shown.text()
    const { pathname, search, searchParams } = new URL(location, isolate.url)
    const auth = searchParams.get('auth')
    shown = auth === null ? await browser.get(isolate, pathname + search) : await submit(isolate, { browser, auth })
  }
  throw new Error('redirected in circles')
}

/** What a page's form sends unseen. */
export function inputsOf(html: string): Record<string, string> {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value]))
}
