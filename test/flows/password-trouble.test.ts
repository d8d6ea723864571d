import { describe, expect, it } from 'vitest'
import type { AuditSink } from '../../src/audit/audit.ts'
import type { Adapters } from '../../src/compose.ts'
import { PortError } from '../../src/ports/error.ts'
import { errorOf, pageOf } from './answers.ts'
import { contents } from './harness.ts'
import { allowing, limit } from './limits.ts'
import { CONFORMANCE, passwordStore, RECOVERY, startPasswordService, waiting } from './password-service.ts'
import { proved, srpClient, started } from './srp-client.ts'

const recovery = (auth: string, x = RECOVERY) => ({ auth, account: 'recovery', x })
const unavailable = { error: 'temporarily_unavailable' }

/** Which call fails, and whether it has done before what it does. */
type Failing = 'state.get' | 'state.create' | 'state.deleteIfRevision' | 'secrets.get' | 'sealer.seal' | 'sealer.open'
type When = 'before' | 'after'

async function troubled() {
  const store = passwordStore()
  const trouble: { call: Failing | null; when: When } = { call: null, when: 'before' }
  const calls: string[] = []
  const fails = (call: string, when: When) => {
    if (trouble.call === call && trouble.when === when) throw new PortError('Unavailable', 'away')
  }
  const troubling = <Port extends object>(port: Port, name: string): Port =>
    new Proxy(port, {
      get(target, call, receiver) {
        const method = Reflect.get(target, call, receiver)
        if (typeof method !== 'function') return method
        return async (...given: unknown[]) => {
          calls.push(name === 'state' ? `${name}.${String(call)} ${String(given[0])}` : `${name}.${String(call)}`)
          fails(`${name}.${String(call)}`, 'before')
          const answer = await Reflect.apply(method, target, given)
          fails(`${name}.${String(call)}`, 'after')
          return answer
        }
      },
    })
  const wrap = ({ state, secrets, sealer, ...others }: Adapters): Adapters => ({
    ...others,
    state: troubling(state, 'state'),
    secrets: troubling(secrets, 'secrets'),
    sealer: troubling(sealer, 'sealer'),
  })
  const service = await startPasswordService(store, wrap)
  /** As long as the work takes, and no longer. */
  async function during<T>(call: Failing, when: When, work: () => Promise<T>): Promise<T> {
    Object.assign(trouble, { call, when })
    return work().finally(() => Object.assign(trouble, { call: null }))
  }
  return { store, service, calls, during, ...(await waiting(service)) }
}

describe('a store that is away at start', () => {
  it.each<[Failing, When]>([
    ['state.get', 'before'],
    ['secrets.get', 'before'],
    ['sealer.seal', 'before'],
    ['state.create', 'before'],
    ['state.create', 'after'],
  ])('%s, failing %s it is done, is 503 for any account, and it can be sent again', async (call, when) => {
    const { during, browser, auth } = await troubled()
    for (const account of ['recovery', 'nobody']) {
      const { A } = srpClient(RECOVERY)
      const answer = await during(call, when, () => browser.post('/login/recovery/start', { auth, account, A }))
      expect(await errorOf(answer, 503)).toMatchObject(unavailable)
    }
    expect(await proved(browser, recovery(auth))).toMatch(/./)
  })
})

describe('a store that is away at finish', () => {
  /** Whether the same handle still proves something. The page never tries: it starts again. */
  it.each<[Failing, When, 'waits' | 'is spent']>([
    ['state.get', 'before', 'waits'],
    ['state.deleteIfRevision', 'before', 'waits'],
    ['state.deleteIfRevision', 'after', 'is spent'],
    ['sealer.open', 'before', 'is spent'],
    ['sealer.seal', 'after', 'is spent'],
  ])('%s, failing %s it is done, is 503: the handle %s, and the page starts again', async (call, when, what) => {
    const { during, browser, auth } = await troubled()
    const { handle, M1 } = await started(browser, recovery(auth))
    const finish = () => browser.post('/login/recovery/finish', { handle, M1 })
    expect(await errorOf(await during(call, when, finish), 503)).toMatchObject(unavailable)
    expect((await finish()).status).toBe(what === 'waits' ? 200 : 403)
    expect(await proved(browser, recovery(auth))).toMatch(/./)
  })

  it('who lost its answer starts again', async () => {
    const { browser, auth } = await troubled()
    await proved(browser, recovery(auth)) // and never heard
    const proof = await proved(browser, recovery(auth))
    expect((await browser.post('/login/recovery/complete', { auth, proof })).status).toBe(303)
  })
})

describe('at complete', () => {
  it.each<Failing>(['state.get', 'sealer.open', 'state.create'])(
    '%s failing is a page, nothing has begun, and the form can be sent again',
    async (call) => {
      const { store, during, browser, auth } = await troubled()
      const proof = await proved(browser, recovery(auth))
      const before = await contents(store)
      const complete = () => browser.post('/login/recovery/complete', { auth, proof })
      expect(await pageOf(await during(call, 'before', complete), 503)).toContain('reload this page')
      expect(Object.keys(await contents(store))).toEqual(Object.keys(before))
      expect((await complete()).status).toBe(303)
    },
  )

  const away: AuditSink = { takes: 'together', write: () => Promise.reject(new PortError('Unavailable', 'the audit is away')) }

  it('an audit that can not be written lets nobody in by the recovery account, and the form can be sent again', async () => {
    const { store, service, browser, auth } = await troubled()
    const { services } = service
    const sinks = services.audit
    const proof = await proved(browser, recovery(auth))
    const before = await contents(store)
    services.audit = [...sinks, away]
    await pageOf(await browser.post('/login/recovery/complete', { auth, proof }), 503)
    expect(await contents(store)).toEqual(before)
    expect([...browser.cookies.keys()]).not.toContain('sluis_sso')
    services.audit = sinks
    expect((await browser.post('/login/recovery/complete', { auth, proof })).status).toBe(303)
  })

  it('an installation without an audit has no recovery sign-in', async () => {
    const { service, browser, auth } = await troubled()
    service.services.audit = []
    const proof = await proved(browser, recovery(auth))
    await pageOf(await browser.post('/login/recovery/complete', { auth, proof }), 503)
  })

  it('an audit that can not be written keeps nobody else out', async () => {
    const { service, browser, auth } = await troubled()
    service.services.audit = [away]
    const proof = await proved(browser, { auth, account: 'conformance', x: CONFORMANCE })
    expect((await browser.post('/login/recovery/complete', { auth, proof })).status).toBe(303)
  })
})

describe('guessing', () => {
  it('is counted by address where it fails, and the right password is taken whatever failed before', async () => {
    const { service, browser, auth } = await troubled()
    const counted = allowing(3)
    limit(service, 'signIn', counted)
    const guess = async () => {
      const { handle, M1 } = await started(browser, recovery(auth, 0x3333n))
      return (await browser.post('/login/recovery/finish', { handle, M1 })).status
    }
    expect([await guess(), await guess(), await guess(), await guess(), await guess()]).toEqual([403, 403, 403, 429, 429])
    const failures = counted.keys.length

    const proof = await proved(browser, recovery(auth))
    expect((await browser.post('/login/recovery/complete', { auth, proof })).status).toBe(303)
    expect(counted.keys).toHaveLength(failures)
  })

  it('too fast is told when to come back', async () => {
    const { service, browser, auth } = await troubled()
    limit(service, 'signIn', allowing(0))
    const answer = await browser.post('/login/recovery/finish', { handle: 'A'.repeat(22), M1: 'x' })
    expect(answer.headers.get('retry-after')).toBe('60')
    await errorOf(answer, 429)
    await errorOf(await browser.post('/login/recovery/start', { auth, account: 'recovery', A: 'x' }), 429)
  })
})

describe('what it costs', () => {
  it('start is one write, finish one, as much for an account there is not, and complete what every sign-in is', async () => {
    const { calls, browser, auth } = await troubled()
    await proved(browser, recovery(auth)) // secrets and switches are read, and kept a while
    const made = () => calls.splice(0).map((call) => call.replace(/( .*?)[.:][\w-]+$/, '$1'))
    made()
    for (const account of ['nobody', 'recovery']) {
      const { handle, M1 } = await started(browser, { auth, account, x: RECOVERY })
      expect(made()).toEqual(['state.get req', 'sealer.seal', 'state.create srp'])
      await browser.post('/login/recovery/finish', { handle, M1 })
      const proving = account === 'recovery' ? ['sealer.seal'] : []
      expect(made()).toEqual(['state.get srp', 'state.deleteIfRevision srp', 'sealer.open', ...proving])
    }
    const proof = await proved(browser, recovery(auth))
    made()
    await browser.post('/login/recovery/complete', { auth, proof })
    const written = ['state.create sso', 'state.create issuer:sso-cookie', 'state.deleteIfRevision req', 'state.create code']
    expect(made()).toEqual(['state.get req', 'sealer.open', ...written])
  })
})
