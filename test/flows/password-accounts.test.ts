import { describe, expect, it } from 'vitest'
import type { Documents } from '../../src/compose.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { secretAddress } from '../../src/ports/keys.ts'
import { elementsOf, errorOf, pageOf } from './answers.ts'
import { startService, testStore } from './harness.ts'
import { CONFORMANCE, passwordStore, RECOVERY, salts, startPasswordService, switchOff, waiting } from './password-service.ts'
import { proved, started } from './srp-client.ts'

const recovery = (auth: string, x = RECOVERY) => ({ auth, account: 'recovery', x })

describe('recovery switched off', () => {
  it('its account is one there is not: another salt, and no password of it', async () => {
    const fresh = passwordStore()
    const off = await startPasswordService(fresh)
    await switchOff(fresh, off)
    const { browser, auth } = await waiting(off)
    const { salt, handle, M1 } = await started(browser, recovery(auth))
    expect(salt).not.toBe(encodeBase64url(salts.recovery))
    await errorOf(await browser.post('/login/recovery/finish', { handle, M1 }), 403)
    const proof = await proved(browser, { auth, account: 'conformance', x: CONFORMANCE })
    expect((await browser.post('/login/recovery/complete', { auth, proof })).status).toBe(303)
  })

  it('between any two steps, what was begun before comes to nothing', async () => {
    const fresh = passwordStore()
    const own = await startPasswordService(fresh)
    const { browser, auth } = await waiting(own)
    const { handle, M1 } = await started(browser, recovery(auth))
    const proof = await proved(browser, recovery(auth))
    await switchOff(fresh, own)
    await errorOf(await browser.post('/login/recovery/finish', { handle, M1 }), 403)
    await pageOf(await browser.post('/login/recovery/complete', { auth, proof }), 403)
    expect([...browser.cookies.keys()]).not.toContain('sluis_sso')
  })
})

describe('the verifier', () => {
  it.each(['', '{}', '{"v":1}', 'a password'])('that is %j is none, and the log names what is wrong and nothing of it', async (text) => {
    const fresh = passwordStore()
    const own = await startPasswordService(fresh)
    await fresh.adapters().secrets.put(secretAddress.recoveryVerifier, utf8(text))
    const { browser, auth } = await waiting(own)
    const { handle, M1 } = await started(browser, recovery(auth))
    await errorOf(await browser.post('/login/recovery/finish', { handle, M1 }), 403)
    const line = own.logs.find((one) => one.includes('signin.verifier_unreadable')) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ level: 'error', kind: 'recovery', reason: expect.stringMatching(/./) })
    expect(line).not.toContain('a password')
  })

  it('that was never put is an account there is not', async () => {
    const fresh = passwordStore()
    const own = await startPasswordService(fresh)
    await fresh.adapters().secrets.delete(secretAddress.recoveryVerifier)
    const { browser, auth } = await waiting(own)
    const { handle, M1 } = await started(browser, recovery(auth))
    await errorOf(await browser.post('/login/recovery/finish', { handle, M1 }), 403)
  })
})

describe('an installation', () => {
  it('without such accounts has no such addresses', async () => {
    const own = await startPasswordService()
    own.services.ways.password = null
    const { browser, auth } = await waiting(own)
    for (const step of ['start', 'finish', 'complete']) expect((await browser.post(`/login/recovery/${step}`, { auth })).status).toBe(404)
    expect(await pageOf(await browser.get(`/login?auth=${auth}`), 200)).not.toContain('data-srp')
  })

  it('with the company’s provider alone is gone through; with an account beside it, or two providers, there is a choice', async () => {
    const okta = { kind: 'oidc', issuer: 'https://acme.okta.example', name: 'Okta', scopes: [], subject_claim: 'email', trust_email: false }
    const answered = async (providers: object, recovery: { generation: number } | undefined) => {
      const edit = ({ service }: Documents) => {
        Object.assign(service, { recovery })
        Object.assign(service.signin, { picker: false, providers })
      }
      const own = startService(testStore('memory', { edit }))
      const { browser, auth } = await waiting(own)
      const answer = await browser.get(`/login?auth=${auth}`)
      return { status: answer.status, location: answer.headers.get('location')?.replace(auth, '<request>') }
    }
    expect(await answered({ okta }, undefined)).toEqual({ status: 303, location: '/login/okta/start?auth=<request>' })
    expect(await answered({ okta }, { generation: 1 })).toMatchObject({ status: 200 })
    expect(await answered({ okta, other: okta }, undefined)).toMatchObject({ status: 200 })
    expect(await answered({}, undefined)).toMatchObject({ status: 200 })
  })

  it('with them has a form that can not send the password, and may run its script alone', async () => {
    const { browser, auth } = await waiting(await startPasswordService())
    const answer = await browser.get(`/login?auth=${auth}`)
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toContain("script-src 'self'; connect-src 'self'")
    const elements = await elementsOf(await pageOf(answer, 200))
    const [form] = elements.filter(({ tag, attributes }) => tag === 'form' && 'data-srp' in attributes)
    expect(form?.attributes).toEqual({ 'data-srp': auth })
    const field = elements.find(({ attributes }) => attributes.type === 'password')?.attributes
    expect(field).toMatchObject({ id: 'password', autocomplete: 'current-password' })
    expect(field).not.toHaveProperty('name')
    expect(elements.find(({ tag, attributes }) => tag === 'button' && 'disabled' in attributes)).toBeDefined()
  })
})
