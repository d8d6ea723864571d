import { describe, expect, inject, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { awsAdapters, makeTableOf } from '../flows/aws-adapters.ts'
import { ADA, beginDevice, poll, refresh, tokensIn } from '../flows/clients.ts'
import {
  authorizeUrl,
  exchange,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  testStore,
  userinfo,
} from '../flows/harness.ts'
import { codeIn, waitingRequest, warmIsolate } from './arrange.ts'

const aws = inject('awsOfOneFile')

/** The waits before repetitions are real ones, but shorter: an emulator is not spared by waiting. */
const HURRY = 50

async function storeOnAws(people: readonly string[] = []): Promise<TestStore> {
  const store = testStore('memory', {
    // The emulator signs and answers by the time there is.
    clock: { now: () => Date.now(), advance: () => expect.unreachable('this clock is the real one') },
    edit({ service }) {
      service.keyring = { ...service.keyring, default: 'ES256', rings: ['ES256'] }
      service.directory.people.push(...people.map((email) => ({ email, groups: ['engineering@acme.example'], suspended: false })))
    },
  })
  const { instance } = store.documents.service
  await makeTableOf(aws, instance)
  const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms / HURRY))
  return { ...store, adapters: () => awsAdapters(aws, { instance, clock: store.clock }, { pause }) }
}

async function emulator(method: 'GET' | 'POST', path: string, body?: object): Promise<Requests> {
  const answer = await fetch(`${aws.url}/_emulator/${path}`, body === undefined ? { method } : { method, body: JSON.stringify(body) })
  expect(answer.status, path).toBe(200)
  return answer.json()
}

interface Requests {
  counts: Record<string, number>
  eventual: number
  faults: Record<string, number>
}

const requests = () => emulator('GET', 'requests')

describe('what AWS is asked', () => {
  it('a grant costs the engine what it costs the port, every read of it consistent, and no parameter and no key is asked for', async () => {
    const service = await warmIsolate(await storeOnAws())
    const browser = new TestBrowser(service)
    const auth = await waitingRequest(browser)
    const asked = async (flow: () => Promise<Response>) => {
      await emulator('POST', 'reset')
      const answer = await flow()
      const { counts, eventual } = await requests()
      expect(eventual).toBe(0)
      return { answer, counts }
    }

    const signedIn = await asked(() => browser.post('/login/picker', { auth, person: ADA }))
    expect(signedIn.counts).toEqual({ 'dynamodb.PutItem': 4, 'dynamodb.DeleteItem': 1, 'dynamodb.GetItem': 1 })
    const exchanged = await asked(() => exchange(service, codeIn(signedIn.answer) ?? ''))
    expect(exchanged.counts).toEqual({ 'dynamodb.PutItem': 5, 'dynamodb.GetItem': 2 })
    const { access_token, refresh_token } = await tokensIn(exchanged.answer)
    expect((await asked(() => userinfo(service, access_token))).counts).toEqual({ 'dynamodb.GetItem': 2 })
    const refreshed = await asked(() => refresh(service, refresh_token))
    expect(refreshed.counts).toEqual({ 'dynamodb.PutItem': 3, 'dynamodb.GetItem': 2 })
    expect((await asked(() => refresh(service, refresh_token))).counts).toEqual({ 'dynamodb.PutItem': 1, 'dynamodb.GetItem': 3 })
    const silent = await authorizeUrl({ prompt: 'none' })
    expect((await asked(() => browser.get(silent))).counts).toEqual({ 'dynamodb.PutItem': 1, 'dynamodb.GetItem': 2 })
    const { device_code } = await beginDevice(service)
    expect((await asked(() => poll(service, device_code))).counts).toEqual({ 'dynamodb.GetItem': 1 })
    for (const path of ['/keys', '/.well-known/openid-configuration']) {
      await service.fetch(path)
      expect((await asked(() => service.fetch(path))).counts, path).toEqual({})
    }
  })
})

const SIGN_INS = 1_000
/** as many as a browserful of people; the emulator answers one call at a time anyway */
const AT_ONCE = 40

/** A person, their browser and the client they sign in at: it tries a 503 again up to five times, and begins anew when a code is refused. */
class Visit {
  retries = 0
  pages = 0
  authorizations = 0
  private readonly service: TestService
  private readonly browser: TestBrowser
  private readonly person: string

  constructor(service: TestService, person: string) {
    this.service = service
    this.browser = new TestBrowser(service)
    this.person = person
  }

  async signIn(): Promise<Tokens> {
    for (;;) {
      this.authorizations++
      const code = await this.authorize()
      const answer = await this.persist(() => exchange(this.service, code))
      if (answer.status === 200) return answer.json()
      expect(await answer.json()).toMatchObject({ error: 'invalid_grant' })
    }
  }

  async refresh({ refresh_token }: Tokens): Promise<Tokens> {
    return tokensIn(await this.persist(() => refresh(this.service, refresh_token)))
  }

  async isIn({ access_token }: Tokens): Promise<boolean> {
    return (await this.persist(() => userinfo(this.service, access_token))).status === 200
  }

  /** Follows redirects, and picks the person on the page that asks: the code that the client is sent. */
  private async authorize(): Promise<string> {
    const first = await authorizeUrl()
    let answer = await this.persist(() => this.browser.get(first))
    for (;;) {
      const to = new URL(answer.headers.get('location') ?? 'about:blank', this.service.url)
      expect(answer.status, this.person).toBe(303)
      if (to.pathname === '/demo') {
        // RFC 6749 section 4.1.2.1: a client may be told so too, and tries again as after a 503
        if (to.searchParams.get('error') === 'temporarily_unavailable') answer = await this.again(() => this.browser.get(first))
        else return to.searchParams.get('code') ?? expect.unreachable(to.search)
      } else if (to.pathname === '/login') {
        this.pages++
        const auth = to.searchParams.get('auth') ?? ''
        answer = await this.persist(() => this.browser.post('/login/picker', { auth, person: this.person }))
      } else {
        expect(to.pathname).toBe('/authorize')
        answer = await this.persist(() => this.browser.get(to.href))
      }
    }
  }

  private async persist(call: () => Promise<Response>): Promise<Response> {
    let answer = await call()
    for (let retry = 0; retry < 5 && answer.status === 503; retry++) answer = await this.again(call)
    return answer
  }

  private again(call: () => Promise<Response>): Promise<Response> {
    this.retries++
    return call()
  }
}

describe('in bad weather: one request in five throttled, one answer in twenty lost after the write, the clock ten minutes off', () => {
  it(`of ${SIGN_INS} sign-ins and refreshes none is lost, none doubled, and nobody is shown a page twice`, {
    timeout: 240_000,
  }, async () => {
    const people = Array.from({ length: SIGN_INS }, (_, n) => `p${n}@acme.example`)
    const store = await storeOnAws(people)
    await store.adapters().secrets.putIfVersion('internal/oidc/state-secret', utf8(btoa('x'.repeat(32))), null)
    await emulator('POST', 'reset')
    await emulator('POST', 'faults', { clockOffset: 600_000, all: { throttle: 5, dropAnswer: 20 } })
    const service = startService(store)
    const visits: Visit[] = []
    const held = new Map<string, Tokens>()

    const queue = [...people]
    const worker = async () => {
      for (let person = queue.shift(); person !== undefined; person = queue.shift()) {
        const visit = new Visit(service, person)
        visits.push(visit)
        const tokens = await visit.refresh(await visit.signIn())
        expect(await visit.isIn(tokens), person).toBe(true)
        held.set(person, tokens)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    const { faults, counts } = await requests()
    await emulator('POST', 'reset')

    expect(held.size).toBe(SIGN_INS)
    expect(visits.filter(({ pages }) => pages !== 1)).toEqual([])
    expect(new Set([...held.values()].map(({ refresh_token }) => refresh_token)).size).toBe(SIGN_INS)
    const { state } = store.adapters()
    for (const person of people) {
      const { entries } = await state.list(keys.sessionsOf(personId(person)))
      const live = entries.filter(({ value }) => !JSON.parse(new TextDecoder().decode(value)).ended)
      expect(live, person).toHaveLength(1)
    }
    const sum = (of: (visit: Visit) => number) => visits.reduce((total, visit) => total + of(visit), 0)
    console.log(
      `${SIGN_INS} sign-ins in bad weather: ${sum(({ retries }) => retries)} retries of a 503, ` +
        `${sum(({ authorizations }) => authorizations) - SIGN_INS} authorizations begun anew after invalid_grant; ` +
        `at the engine ${JSON.stringify({ ...counts, ...faults })}`,
    )
    expect(faults).toMatchObject({ throttle: expect.any(Number), dropAnswer: expect.any(Number) })
  })
})
