/** The values a run has met that no line of the service may hold, each with what it is. */
export class SecretsMet {
  private readonly values = new Map<string, string>()

  get size(): number {
    return this.values.size
  }

  /** Absent ones are passed over: not every answer has a refresh token. */
  add(what: string, value: string | null | undefined): void {
    if (value) this.values.set(value, what)
  }

  /** The code of an address, and the cookies of an answer's Set-Cookie lines. */
  addAnswer(location: string | null | undefined, setCookies: readonly string[]): void {
    if (location) this.add('code', /[?&#]code=([^&]+)/.exec(location)?.[1])
    for (const line of setCookies) this.add('cookie', /^[^=]+=([^;]+)/.exec(line)?.[1])
  }

  /** What of all this stands in `output`, and what there looks like such a value though this run did not meet it. */
  leaksIn(output: string): string[] {
    const lines = output.split('\n').filter((line) => !SIGN_IN_AS.test(line))
    const found = lines.flatMap((line) => [
      ...[...this.values].filter(([value]) => line.includes(value)).map(([, what]) => `${what}: ${line}`),
      ...Object.entries(SHAPES).flatMap(([what, shape]) => (shape.test(line) ? [`${what}: ${line}`] : [])),
    ])
    return [...new Set(found)]
  }
}

/** The one line of `npm start` that names people: whom a developer can sign in as. */
const SIGN_IN_AS = /^ {2}sign in as {2}/

const SHAPES = {
  'a code or token': /\bsl[crd]_/,
  'a JWT': /\beyJ[\w-]+\./,
  'an authorization header': /\b(?:bearer|basic)\s+[\w+/=-]{8}/i,
  'a cookie': /\bsluis_(?:sso|browser)\b/,
  'a person': /@acme\.example/i,
  'a query': /[?&](?:code|user_code|state|auth|client_id|access_token)=/,
}
