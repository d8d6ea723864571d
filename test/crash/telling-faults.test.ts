import { describe, expect, it } from 'vitest'
import { ADA, at, clientStore, HOUR, refresh } from '../flows/clients.ts'
import { contents, type Engine, engines, exchange, signIn, startService, TestBrowser, type TestStore, userinfo } from '../flows/harness.ts'
import { type Applications, applications, tellable } from '../flows/told-clients.ts'
import { type Fault, faultsOn, type Misfortune, misfortune } from './faults.ts'

/** Every call in memory; elsewhere what befalls one call befalls the next alike. */
const steps: Record<Engine, number> = { memory: 1, 'durable-object': 4, dynamodb: 4 }

interface World {
  store: TestStore
  luck: Misfortune
  apps: Applications
  victim: ReturnType<typeof startService>
  judge: ReturnType<typeof startService>
}

async function world(engine: Engine): Promise<World> {
  const store = await clientStore(engine, tellable(['demo', 'backend']))
  const luck = misfortune()
  let judge: World['judge']
  const apps = applications(() => judge)
  judge = startService(store, undefined, apps.outside)
  return { store, luck, apps, victim: startService(store, luck.wrap, apps.outside), judge }
}

/** The access tokens of what is to end, the sids that are to be told, and what ends it. */
interface Ending {
  tokens: string[]
  told: number
  end(): Promise<unknown>
}

const endings: [string, (all: World) => Promise<Ending>][] = [
  [
    'a sign-out of two sessions',
    async ({ victim }) => {
      const browser = new TestBrowser(victim)
      const opened = [
        await at(victim, 'demo', { browser }),
        await at(victim, 'backend', { browser }),
        await at(victim, 'native', { browser }),
      ]
      return { tokens: opened.map(({ access_token }) => access_token), told: 2, end: () => browser.post('/logout', {}) }
    },
  ],
  [
    'a refresh token that comes again',
    async ({ victim, store }) => {
      const { access_token, refresh_token } = await at(victim, 'demo')
      await refresh(victim, refresh_token)
      store.clock.advance(60)
      return { tokens: [access_token], told: 1, end: () => refresh(victim, refresh_token) }
    },
  ],
  [
    'a code that comes again',
    async ({ victim }) => {
      const code = (await signIn(new TestBrowser(victim))).searchParams.get('code') ?? ''
      const { access_token } = await (await exchange(victim, code)).json<{ access_token: string }>()
      return { tokens: [access_token], told: 1, end: () => exchange(victim, code) }
    },
  ],
]

describe.each(engines)('on %s', (engine) => {
  describe.each(endings)('%s', (_what, begin) => {
    it.each(engine === 'memory' ? faultsOn.memory : (['stops'] as const))(
      'whose store %s at any call, the telling included: the tick ends the sessions and tells every client, if anything ended',
      async (fault) => {
        for (let nth = 1, struck = true; struck; nth += steps[engine]) struck = await isTold(await world(engine), begin, fault, nth)
      },
    )
  })
})

/** False when it made fewer calls than `nth`. */
async function isTold(all: World, begin: (all: World) => Promise<Ending>, fault: Fault, nth: number): Promise<boolean> {
  const { luck, victim, judge, apps, store } = all
  const { tokens, told, end } = await begin(all)
  luck.strikes(fault, nth)
  await luck.outcome(end().catch(() => 'failed' as const))
  await luck.outcome(victim.afterwards().catch(() => undefined))
  const struck = luck.calls.length >= nth
  luck.mend()

  const begun = Object.keys(await contents(store)).some((key) => key.startsWith('logout-due.'))
  const alive = async () =>
    (await Promise.all(tokens.map(async (token) => (await userinfo(judge, token)).status === 200))).filter(Boolean).length
  const ended = (await alive()) < tokens.length || begun || apps.told.length > 0
  for (let tick = 0; tick < 4; tick++) {
    store.clock.advance(60 + (tick === 3 ? HOUR : 0)) // past the lease of whoever died, and what a failed attempt waits
    await judge.tick()
  }
  if (ended) {
    expect({ nth, alive: await alive() }).toEqual({ nth, alive: 0 })
    expect({ nth, told: new Set(apps.told.map(({ client, sid }) => `${client} ${sid}`)).size }).toEqual({ nth, told })
  } else {
    expect({ nth, told: apps.told }).toEqual({ nth, told: [] })
  }
  expect(apps.told.every(({ sub }) => sub === ADA)).toBe(true)
  const left = Object.keys(await contents(store)).filter((key) => key.startsWith('logout-due.'))
  expect({ nth, left }).toEqual({ nth, left: [] })
  return struck
}
