import { describe, expect, it } from 'vitest'
import { pageOf } from './answers.ts'
import { TestBrowser } from './harness.ts'
import { ADA, codeOf, comeBack, refused, sent, upstreamWorld } from './upstream-world.ts'

const world = await upstreamWorld()
const { service, okta, store } = world

describe('what the client asked of the proof', () => {
  const wanted = async (changes: Record<string, string>) => new URL((await sent(world, changes)).location).searchParams
  const now = Math.floor(store.clock.now() / 1000)

  it('is passed on: prompt, max_age, and never an older proof than a sign-in here lasts', async () => {
    expect((await wanted({})).get('prompt')).toBeNull()
    expect((await wanted({})).get('max_age')).toBe(String(86_400 - 720))
    expect((await wanted({ prompt: 'login' })).get('prompt')).toBe('login')
    expect((await wanted({ prompt: 'consent' })).get('prompt')).toBeNull()
    expect((await wanted({ max_age: '900' })).get('max_age')).toBe('900')
    expect((await wanted({ max_age: '999999' })).get('max_age')).toBe(String(86_400 - 720))
    expect(Object.fromEntries(await wanted({ max_age: '0' }))).toMatchObject({ prompt: 'login', max_age: '0' })
  })

  it('is an older proof for a page of ours only as long as a sign-in completes silently', async () => {
    const browser = new TestBrowser(service)
    const login = (await browser.get('/account')).headers.get('location') ?? ''
    const started = await browser.get(login.replace('/login', '/login/okta/start'))
    const location = started.headers.get('location') ?? ''
    expect(new URL(location).searchParams.get('max_age')).toBe(String(43_200 - 720))
    const answer = await browser.get(okta.signIn(location, { ...ADA, auth_time: now - 42_000 }))
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'http://localhost:8787/account'])
    await pageOf(await browser.get('/account'), 200)
  })

  it('is select_account to a provider that says it knows it; to others login, which all know and which does as much', async () => {
    const knowing = await upstreamWorld()
    knowing.okta.bend({ discovery: { prompt_values_supported: ['none', 'login', 'select_account'] } })
    const { location } = await sent(knowing, { prompt: 'select_account login' })
    expect(new URL(location).searchParams.get('prompt')).toBe('login select_account')
    expect((await wanted({ prompt: 'select_account' })).get('prompt')).toBe('login')
  })

  it.each([
    [{ max_age: '900' }, 1_000],
    [{ max_age: '0' }, 100],
    [{ prompt: 'login' }, 100],
    [{}, 90_000],
    [{}, 86_399],
  ])('of %j, a proof %i s old is refused, with a way to be proved anew', async (changes, age) => {
    const html = await refused(world, await comeBack(world, { ...ADA, auth_time: now - age }, changes), 403, 'proved_long_ago')
    expect(html).toMatch(/href="\/login\/okta\/start\?auth=[\w-]{22}&amp;prompt=login"/)
  })

  it.each([
    [{ max_age: '900' }, 900],
    [{ prompt: 'login' }, 0],
    [{}, 80_000],
  ])('of %j, a proof %i s old does', async (changes, age) => {
    codeOf(await comeBack(world, { ...ADA, auth_time: now - age }, changes))
  })

  it('max_age without an auth_time to hold it against is refused', async () => {
    await refused(world, await comeBack(world, ADA, { max_age: '900' }), 502, 'no_auth_time')
  })

  it('an auth_time of tomorrow is refused', async () => {
    await refused(world, await comeBack(world, { ...ADA, auth_time: now + 86_400 }), 502, 'id_token_time')
  })

  it('trying again by another account or anew asks the provider for that', async () => {
    const { browser, auth } = await sent(world, { login_hint: 'ada@acme.example' })
    const again = async (prompt: string) => {
      const { headers } = await browser.get(`/login/okta/start?auth=${auth}&prompt=${prompt}`)
      return new URL(headers.get('location') ?? '').searchParams
    }
    expect((await again('login')).get('prompt')).toBe('login')
    expect((await again('select_account')).get('prompt')).toBe('login')
    expect((await again('select_account')).get('login_hint')).toBeNull()
    await pageOf(await browser.get(`/login/okta/start?auth=${auth}&prompt=none`), 400)
  })
})
