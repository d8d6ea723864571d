import type { SecretsMet } from './secrets-met.ts'

export const ADA = 'ada@acme.example'

/** A page of the issuer's, as somebody has it before them. */
export interface Shown {
  url: string
  html: string
}

/** Somebody with a browser without JavaScript: cookies, one navigation at a time, redirects followed by hand. */
export class Person {
  private readonly cookies = new Map<string, string>()
  private readonly issuer: string
  private readonly met: SecretsMet

  constructor(issuer: string, met: SecretsMet) {
    this.issuer = issuer
    this.met = met
  }

  /** Signs in for an authorization request. Answers where the issuer sends them with the answer. */
  async signIn(authorization: URL | string, email = ADA): Promise<URL> {
    return this.pick(await this.open(authorization), email)
  }

  /** Follows an address to the page of the issuer's that it leads to. */
  async open(address: URL | string): Promise<Shown> {
    return this.follow(String(address), await this.send(String(address)))
  }

  /** Sends the form of a page with what was typed or pressed, and follows to the page it leads to. */
  async submit(shown: Shown, fields: Readonly<Record<string, string>>): Promise<Shown> {
    return this.follow(shown.url, await this.post(shown, fields))
  }

  /** Picks a person on a page to sign in on. Answers where that sends the browser. */
  async pick(shown: Shown, email = ADA): Promise<URL> {
    const answer = await this.post(shown, { person: email })
    const text = await answer.text()
    const location = answer.headers.get('location')
    if (answer.status !== 303 || location === null) throw new Error(`no redirect: ${answer.status} ${text}`)
    return new URL(location)
  }

  private async follow(from: string, first: Response): Promise<Shown> {
    let [url, answer] = [first.url, first]
    for (let hop = 0; hop < 5; hop++) {
      const location = answer.headers.get('location')
      const html = await answer.text()
      if (location === null) return { url, html }
      url = new URL(location, url).href
      if (!this.isIssuers(url)) throw new Error(`sent away without a page: ${url}`)
      answer = await this.send(url)
    }
    throw new Error(`redirected in circles from ${from}: ${url}`)
  }

  private post(shown: Shown, fields: Readonly<Record<string, string>>): Promise<Response> {
    const { action, hidden } = formOf(shown)
    const headers = { origin: this.issuer, 'sec-fetch-site': 'same-origin' }
    return this.send(action, { method: 'POST', headers, body: new URLSearchParams({ ...hidden, ...fields }) })
  }

  private async send(url: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...init.headers, ...(cookie === '' ? {} : { cookie }) }
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.cookies.set(name, value)
    }
    this.met.addAnswer(answer.headers.get('location'), answer.headers.getSetCookie())
    return answer
  }

  private isIssuers(url: string): boolean {
    return new URL(url).origin === this.issuer
  }
}

/** The first form of a page: where it goes, in full, and what it sends unseen. */
function formOf({ html, url }: Shown): { action: string; hidden: Record<string, string> } {
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1]
  if (action === undefined) throw new Error(`no form at ${url}: ${html}`)
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return { action: new URL(action, url).href, hidden: Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value])) }
}
