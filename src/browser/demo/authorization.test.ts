import { describe, expect, it } from 'vitest'
import { authorizationUrl, codeOf, discover, exchangeCode, newAttempt } from './authorization.ts'

const ORIGIN = 'http://localhost:8787'
const DISCOVERY = {
  issuer: ORIGIN,
  authorization: `${ORIGIN}/authorize`,
  token: `${ORIGIN}/token`,
  userinfo: `${ORIGIN}/userinfo`,
  keys: `${ORIGIN}/keys`,
}
// RFC 7636 appendix B
const ATTEMPT = { state: 'st', nonce: 'no', verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }

function answering(body: unknown, status = 200) {
  const calls: { url: string; init: RequestInit | undefined }[] = []
  const fetcher: typeof fetch = async (input, init) => {
    calls.push({ url: String(input), init })
    return new Response(JSON.stringify(body), { status })
  }
  return { calls, fetcher }
}

describe('discover', () => {
  const document = {
    issuer: ORIGIN,
    authorization_endpoint: DISCOVERY.authorization,
    token_endpoint: DISCOVERY.token,
    userinfo_endpoint: DISCOVERY.userinfo,
    jwks_uri: DISCOVERY.keys,
  }

  it('reads the addresses from the issuer of this page', async () => {
    const { fetcher, calls } = answering(document)
    expect(await discover(ORIGIN, fetcher)).toEqual(DISCOVERY)
    expect(calls[0]?.url).toBe(`${ORIGIN}/.well-known/openid-configuration`)
  })

  it('refuses the document of another issuer, and one with an address missing', async () => {
    await expect(discover(ORIGIN, answering({ ...document, issuer: 'https://other.example' }).fetcher)).rejects.toThrow('other.example')
    await expect(discover(ORIGIN, answering({ ...document, jwks_uri: 1 }).fetcher)).rejects.toThrow('jwks_uri is missing')
    await expect(discover(ORIGIN, answering([]).fetcher)).rejects.toThrow('JSON object')
  })
})

describe('authorizationUrl', () => {
  it('asks for a code with the S256 challenge of RFC 7636 appendix B, and keeps the verifier to itself', async () => {
    const url = new URL(await authorizationUrl(DISCOVERY, ATTEMPT, `${ORIGIN}/demo`))
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'demo',
      redirect_uri: `${ORIGIN}/demo`,
      scope: 'openid profile email',
      state: 'st',
      nonce: 'no',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
    expect(url.href).not.toContain(ATTEMPT.verifier)
  })
})

describe('newAttempt', () => {
  it('draws 32 bytes for each, anew each time', () => {
    const drawn = [newAttempt(), newAttempt()].flatMap(({ state, nonce, verifier }) => [state, nonce, verifier])
    expect(new Set(drawn).size).toBe(6)
    expect(drawn.every((text) => /^[A-Za-z0-9_-]{43}$/.test(text))).toBe(true)
  })
})

describe('codeOf', () => {
  const answer = (parameters: Record<string, string>) => new URLSearchParams({ state: 'st', iss: ORIGIN, ...parameters })

  it('gives the code of an answer with our state and issuer', () => {
    expect(codeOf(answer({ code: 'c' }), ATTEMPT, ORIGIN)).toBe('c')
  })

  it('refuses an answer nobody asked for, with another state, or of another issuer', () => {
    expect(() => codeOf(answer({ code: 'c' }), null, ORIGIN)).toThrow('did not start')
    expect(() => codeOf(answer({ code: 'c', state: 'other' }), ATTEMPT, ORIGIN)).toThrow('state')
    expect(() => codeOf(answer({ code: 'c', iss: 'https://other.example' }), ATTEMPT, ORIGIN)).toThrow('iss')
    expect(() => codeOf(new URLSearchParams({ code: 'c', state: 'st' }), ATTEMPT, ORIGIN)).toThrow('iss')
  })

  it('tells the error only of an answer it believes', () => {
    expect(() => codeOf(answer({ error: 'access_denied', error_description: 'no' }), ATTEMPT, ORIGIN)).toThrow('access_denied. no')
    expect(() => codeOf(answer({ error: 'access_denied', state: 'other' }), ATTEMPT, ORIGIN)).toThrow('state')
  })

  it('refuses an answer that says nothing', () => {
    expect(() => codeOf(answer({}), ATTEMPT, ORIGIN)).toThrow('neither')
  })
})

describe('exchangeCode', () => {
  it('sends code and verifier in the body, without cookies', async () => {
    const { fetcher, calls } = answering({ access_token: 'a', id_token: 'i' })
    expect(await exchangeCode(DISCOVERY, 'c', ATTEMPT, `${ORIGIN}/demo`, fetcher)).toEqual({ accessToken: 'a', idToken: 'i' })
    expect(calls[0]?.url).toBe(DISCOVERY.token)
    expect(calls[0]?.init?.credentials).toBe('omit')
    expect(String(calls[0]?.init?.body)).toBe(
      `grant_type=authorization_code&client_id=demo&code=c&redirect_uri=http%3A%2F%2Flocalhost%3A8787%2Fdemo&code_verifier=${ATTEMPT.verifier}`,
    )
  })

  it('tells the refusal in the issuer’s words', async () => {
    const { fetcher } = answering({ error: 'invalid_grant', error_description: 'the code is not live' }, 400)
    await expect(exchangeCode(DISCOVERY, 'c', ATTEMPT, `${ORIGIN}/demo`, fetcher)).rejects.toThrow(
      '/token answered 400, invalid_grant: the code is not live.',
    )
  })
})
