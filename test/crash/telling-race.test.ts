import { describe, expect, it } from 'vitest'
import { ADA, at, clientStore } from '../flows/clients.ts'
import { claimsOf, startService, TestBrowser, type Tokens, userinfo } from '../flows/harness.ts'
import { applications, tellable } from '../flows/told-clients.ts'
import { gaps } from './between-calls.ts'

async function world() {
  const store = await clientStore('memory', tellable(['demo', 'backend']))
  const gap = gaps()
  let judge: ReturnType<typeof startService>
  const apps = applications(() => judge)
  judge = startService(store, undefined, apps.outside)
  return { store, gap, apps, judge, victim: startService(store, gap.wrap, apps.outside) }
}

const endings: [string, string][] = [
  ['a person’s at one client', `/api/sessions?person=${ADA}&client=demo`],
  ['all of a person’s', `/api/sessions?person=${ADA}`],
  ['everybody’s at one client', '/api/sessions?client=demo'],
]

describe.each(endings)('an ending of %s', (_what, path) => {
  it('into which a session is opened leaves it standing or tells its client, whenever that is', async () => {
    let ended = 0
    for (let nth = 0, came = true; came; nth++) {
      const { store, gap, apps, judge, victim } = await world()
      const operator = new TestBrowser(victim)
      await at(victim, 'demo', { browser: operator })
      let opened: Tokens | undefined
      gap.after(nth, async () => {
        opened = await at(judge, 'demo')
      })
      expect((await operator.ask('DELETE', path)).status).toBe(200)
      await victim.afterwards()
      store.clock.advance(60)
      await judge.tick()
      came = opened !== undefined
      if (opened === undefined || (await userinfo(judge, opened.access_token)).status === 200) continue
      ended++
      const { sid } = claimsOf(opened.id_token)
      expect({ nth, told: apps.told.filter((told) => told.sid === sid).length }).toEqual({ nth, told: 1 })
    }
    expect(ended).toBeGreaterThan(0)
  })
})
