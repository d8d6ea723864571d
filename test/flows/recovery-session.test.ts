import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { PortError } from '../../src/ports/error.ts'
import { clientAnswer, errorOf } from './answers.ts'
import { beginDevice, deviceForm, poll, refresh, tokensIn } from './clients.ts'
import { authorizeUrl, claimsOf, exchange, type TestBrowser, type TestService, type Tokens } from './harness.ts'
import { passwordStore, RECOVERY, startPasswordService, switchOff, waiting } from './password-service.ts'
import { proved } from './srp-client.ts'

/** A browser in which the recovery account has just proved itself, and where its client is sent. */
async function provedByRecovery(service: TestService): Promise<{ browser: TestBrowser; code: string }> {
  const { browser, auth } = await waiting(service, { scope: 'openid offline_access' })
  const proof = await proved(browser, { auth, account: 'recovery', x: RECOVERY })
  const { parameters } = await clientAnswer(await browser.post('/login/recovery/complete', { auth, proof }))
  return { browser, code: parameters.code ?? '' }
}

async function arrange(wrap?: Parameters<typeof startPasswordService>[1]) {
  const store = passwordStore()
  const service = await startPasswordService(store, wrap)
  const { browser, code } = await provedByRecovery(service)
  const tokens: Tokens = await tokensIn(await exchange(service, code))
  return { store, service, browser, tokens }
}

/** What a client that asks without a person is told. */
async function silent(browser: TestBrowser): Promise<Record<string, string>> {
  return (await clientAnswer(await browser.get(await authorizeUrl({ prompt: 'none' })))).parameters
}

describe('a session of the recovery account', () => {
  it('is marked for what it is, in what a silent sign-in and a refresh give too', async () => {
    const { store, service, browser, tokens } = await arrange()
    store.clock.advance(60)
    const again = await tokensIn(await refresh(service, tokens.refresh_token))
    const silently = await tokensIn(await exchange(service, (await silent(browser)).code ?? ''))
    for (const { id_token, access_token } of [tokens, again, silently])
      for (const token of [id_token, access_token])
        expect(claimsOf(token)).toMatchObject({ sub: 'recovery', acr: 'urn:sluis:acr:recovery', amr: ['pwd'] })
  })

  it('ends at the absolute limit, however often it is refreshed', async () => {
    const { store, service, browser, tokens } = await arrange()
    const { absolute, refresh: idle } = store.documents.policy.lifetimes
    const step = Math.floor(idle / 2)
    let { refresh_token } = tokens
    for (let at = step; at < absolute; at += step) {
      store.clock.advance(step)
      refresh_token = (await tokensIn(await refresh(service, refresh_token))).refresh_token
    }
    store.clock.advance(step)
    expect(await errorOf(await refresh(service, refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    expect(await silent(browser)).toMatchObject({ error: 'login_required' })
  })

  it('that was switched off is neither refreshed nor signed in silently any more', async () => {
    const { store, service, browser, tokens } = await arrange()
    await switchOff(store, service)
    expect(await errorOf(await refresh(service, tokens.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    expect(await silent(browser)).toMatchObject({ error: 'login_required' })
  })

  it('lets no device in once it was switched off, also between the page and the answer', async () => {
    const { store, service, browser } = await arrange()
    const codes = await beginDevice(service)
    const form = await deviceForm(browser, codes.user_code)
    await switchOff(store, service)
    expect((await browser.post('/device', { ...form, action: 'allow' })).status).not.toBe(200)
    await errorOf(await poll(service, codes.device_code), 400)
  })

  it('is given nothing while the switch can not be read, and loses nothing by it', async () => {
    let away = false
    const { store, service, tokens } = await arrange((adapters) => ({
      ...adapters,
      state: {
        ...adapters.state,
        async get(key, ...rest) {
          if (away && key === 'rec.recovery.off') throw new PortError('Unavailable', 'away')
          return adapters.state.get(key, ...rest)
        },
      },
    }))
    store.clock.advance(3)
    away = true
    await errorOf(await refresh(service, tokens.refresh_token), 503)
    away = false
    await tokensIn(await refresh(service, tokens.refresh_token))
  })

  it('whose switch holds what nobody can read is off', async () => {
    const { store, service, tokens } = await arrange()
    await store.adapters().state.put('rec.recovery.off', utf8('{"disabled":'), 'permanent')
    store.clock.advance(3)
    expect(await errorOf(await refresh(service, tokens.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
  })
})
