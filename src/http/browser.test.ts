import { describe, expect, it } from 'vitest'
import { labelledDigestHex } from '../crypto/digest.ts'
import { browserHash, knowBrowser } from './browser.ts'

const ISSUER = 'https://id.acme.example'
const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
const MADE = 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc'
const HELD = 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE'

function asked(cookie?: string): Request {
  return new Request(`${ISSUER}/authorize`, cookie === undefined ? {} : { headers: { cookie } })
}

describe('knowBrowser', () => {
  it('gives a browser without a cookie one of 32 random bytes, and answers its labelled hash', async () => {
    const browser = await knowBrowser(asked(), ISSUER, random)
    expect(browser.setCookie).toBe(`__Host-sluis_browser=${MADE}; Path=/; HttpOnly; SameSite=Lax; Secure`)
    expect(browser.hash).toBe(await labelledDigestHex('sluis browser v1', MADE))
  })

  it('keeps the cookie a browser has', async () => {
    const browser = await knowBrowser(asked(`__Host-sluis_browser=${HELD}`), ISSUER, random)
    expect(browser).toEqual({ hash: await labelledDigestHex('sluis browser v1', HELD) })
  })

  it.each([
    ['too short', HELD.slice(1)],
    ['too long', `${HELD}A`],
    ['empty', ''],
    ['padded', `${HELD.slice(0, 42)}=`],
    ['of other letters', `${HELD.slice(0, 42)}+`],
    ['with stray bits', `${HELD.slice(0, 42)}F`],
  ])('replaces a cookie that is %s', async (_what, value) => {
    const browser = await knowBrowser(asked(`__Host-sluis_browser=${value}`), ISSUER, random)
    expect(browser.setCookie).toContain(MADE)
  })
})

describe('browserHash', () => {
  it('is undefined for a browser that began nothing here', async () => {
    expect(await browserHash(asked(), ISSUER)).toBeUndefined()
    expect(await browserHash(asked('__Host-sluis_browser=x'), ISSUER)).toBeUndefined()
    expect(await browserHash(asked(`sluis_browser=${HELD}`), ISSUER)).toBeUndefined()
  })

  it('is the hash of the cookie it has, and not the cookie', async () => {
    const hash = await browserHash(asked(`__Host-sluis_browser=${HELD}`), ISSUER)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(hash).toBe(await labelledDigestHex('sluis browser v1', HELD))
  })
})
