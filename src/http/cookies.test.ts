import { describe, expect, it } from 'vitest'
import {
  browserCookie,
  clearCookie,
  parseCookies,
  readCookie,
  readSignInCookie,
  setCookie,
  ssoCookie,
  upstreamCookie,
  upstreamCookieIds,
} from './cookies.ts'

const HTTPS = 'https://id.acme.example'

describe('cookie names', () => {
  it('are __Host- and Secure', () => {
    expect(browserCookie(HTTPS)).toEqual({ name: '__Host-sluis_browser', secure: true })
    expect(ssoCookie(HTTPS)).toEqual({ name: '__Host-sluis_sso', secure: true })
  })

  it.each(['http://localhost:8787', 'http://127.0.0.1:8787', 'http://[::1]:8787'])('lose both on %s', (issuer) => {
    expect(browserCookie(issuer)).toEqual({ name: 'sluis_browser', secure: false })
  })

  it.each(['https://localhost:8787', 'http://id.acme.example', 'http://localhost.acme.example', 'http://127.0.0.2'])(
    'keep both on %s',
    (issuer) => {
      expect(ssoCookie(issuer)).toEqual({ name: '__Host-sluis_sso', secure: true })
    },
  )
})

describe('upstreamCookieIds', () => {
  it('names the sign-ins under way of this issuer, in the order the browser has them', () => {
    const cookie = '__Host-sluis_upstream_b=2; sluis_upstream_x=0; __Host-sluis_sso=s; __Host-sluis_upstream_a=1'
    const request = new Request('https://id.acme.example/', { headers: { cookie } })
    expect(upstreamCookieIds(request, HTTPS)).toEqual(['b', 'a'])
    expect(upstreamCookie('b', HTTPS)).toEqual({ name: '__Host-sluis_upstream_b', secure: true })
    expect(upstreamCookieIds(new Request('https://id.acme.example/'), HTTPS)).toEqual([])
  })
})

describe('parseCookies', () => {
  it('reads pairs with and without spaces', () => {
    expect([...parseCookies('a=1;b=2;  c = 3 ')]).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ])
  })

  it('lets the first of two equal names win', () => {
    expect(parseCookies('sluis_sso=first; sluis_sso=second').get('sluis_sso')).toBe('first')
  })

  it('keeps what stands after the first =', () => {
    expect(parseCookies('a=b=c==').get('a')).toBe('b=c==')
  })

  it.each(['', ';', '=;=', '=x', 'nameless', ';;; a', '\u0000\u00ff=%zz', '"', '%', '__proto__'])(
    'never throws at %j, and finds nothing of ours in it',
    (header) => {
      const cookies = parseCookies(header)
      expect(cookies.get('sluis_sso')).toBeUndefined()
      expect(cookies.get('')).toBeUndefined()
    },
  )

  it('finds ours among garbage', () => {
    expect(parseCookies('junk; =; %zz=1; sluis_sso=v; ;').get('sluis_sso')).toBe('v')
  })

  it('tells names apart by case and prefix', () => {
    expect(parseCookies('SLUIS_SSO=a; xsluis_sso=b; __Host-sluis_sso=c').get('sluis_sso')).toBeUndefined()
  })
})

describe('readCookie', () => {
  it('takes only the name of this issuer: a plain one does not stand in for __Host-', () => {
    const request = new Request(HTTPS, { headers: { cookie: 'sluis_sso=tossed; __Host-sluis_sso=ours' } })
    expect(readCookie(request, ssoCookie(HTTPS))).toBe('ours')
    expect(readCookie(new Request(HTTPS, { headers: { cookie: 'sluis_sso=tossed' } }), ssoCookie(HTTPS))).toBeUndefined()
    expect(readCookie(new Request(HTTPS), ssoCookie(HTTPS))).toBeUndefined()
  })
})

describe('setCookie', () => {
  it('is HttpOnly, Lax, of the whole host, and Secure', () => {
    expect(setCookie(ssoCookie(HTTPS), 'abc', { maxAge: 43_200 })).toBe(
      '__Host-sluis_sso=abc; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=43200',
    )
  })

  it('goes with the browser when no age is given', () => {
    expect(setCookie(browserCookie('http://localhost:8787'), 'abc')).toBe('sluis_browser=abc; Path=/; HttpOnly; SameSite=Lax')
  })

  it.each(['a;b', 'a b', 'a,b', 'a"b', 'a\r\nx: y', 'é'])('refuses to write %j', (value) => {
    expect(() => setCookie(ssoCookie(HTTPS), value)).toThrow(TypeError)
  })

  it('is removed with the attributes it was set with', () => {
    expect(clearCookie(ssoCookie(HTTPS))).toBe('__Host-sluis_sso=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0')
  })
})

it('the sign-in of a browser is read from our cookie, else from the one of the Go service', () => {
  const withCookies = (cookie: string) => readSignInCookie(new Request(HTTPS, { headers: { cookie } }), HTTPS)
  expect(withCookies('__Host-access_issuer_sso=theirs')).toBe('theirs')
  expect(withCookies('__Host-access_issuer_sso=theirs; __Host-sluis_sso=ours')).toBe('ours')
  expect(withCookies('access_issuer_sso=tossed')).toBeUndefined()
})
