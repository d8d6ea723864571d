import type { SecretsMet } from './secrets-met.ts'

export const ADA = 'ada@acme.example'

/** A sign-in page, as far as somebody can act on it. */
export interface SignInPage {
  /** Where its form goes, in full. */
  action: string
  hidden: Record<string, string>
  /** The addresses of the people it offers. */
  people: string[]
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

  /** Follows an authorization request to the page to sign in on. */
  async open(authorization: URL | string): Promise<SignInPage> {
    let url = String(authorization)
    for (let hop = 0; hop < 5; hop++) {
      const answer = await this.send(url)
      const location = answer.headers.get('location')
      const text = await answer.text()
      if (location === null) return signInPage(text, url)
      url = new URL(location, url).href
      if (!this.isIssuers(url)) throw new Error(`sent away without a page: ${url}`)
    }
    throw new Error(`redirected in circles: ${url}`)
  }

  async pick({ action, hidden }: SignInPage, email = ADA): Promise<URL> {
    const headers = { origin: this.issuer, 'sec-fetch-site': 'same-origin' }
    const answer = await this.send(action, { method: 'POST', headers, body: new URLSearchParams({ ...hidden, person: email }) })
    const text = await answer.text()
    const location = answer.headers.get('location')
    if (answer.status !== 303 || location === null) throw new Error(`no redirect: ${answer.status} ${text}`)
    return new URL(location)
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

function signInPage(html: string, url: string): SignInPage {
  const action = /<form method="post" action="([^"]+)"/.exec(html)?.[1]
  if (action === undefined) throw new Error(`no form to sign in with at ${url}: ${html}`)
  const inputs = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  const people = html.matchAll(/<button type="submit" name="person" value="([^"]+)"/g)
  return {
    action: new URL(action, url).href,
    hidden: Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, value])),
    people: [...people].map(([, email = '']) => email),
  }
}
