import { describe, expect, it } from 'vitest'
import { resumeEndings } from '../../src/logout/telling.ts'
import { personId } from '../../src/ports/keys.ts'
import { createEnding } from '../../src/records/ending.ts'
import { createLogoutRow } from '../../src/records/logout-row.ts'
import { createSession, createSessionPointer, type Session } from '../../src/records/session.ts'
import { budgetOf } from '../../src/ticks/budget.ts'
import { clientStore, HOUR } from '../flows/clients.ts'
import { contents, startService, type TestStore } from '../flows/harness.ts'
import { applications, tellable } from '../flows/told-clients.ts'
import { interceptCalls } from './port-calls.ts'

const CALLS = 20 // of an invocation
const OTHERS = 950 // of which it can list fewer

async function open(store: TestStore, identity: string, client_id: string, told: boolean): Promise<void> {
  const { state } = store.adapters()
  const now = Math.floor(store.clock.now() / 1000)
  const times = { auth_time: now, issued_at: now, expires_at: now + HOUR }
  const session: Session = { id: `of-${identity}`, identity: personId(identity), client_id, how: 'code', scopes: [], ...times }
  await createSession(state, session, HOUR)
  await createSessionPointer(state, session, HOUR)
  const row = { sid: session.id, subject: identity, client_id, backchannel_logout_uri: 'http://localhost:3999/told/demo' }
  if (told) await createLogoutRow(state, { ...row, expires_at: now + HOUR }, now)
}

describe.each([false, true])('an ending of everybody at a client (told: %s) whose sessions come after many others', (told) => {
  it('goes on where the last invocation stopped, until all have ended', async () => {
    const store = await clientStore('memory', told ? tellable(['demo']) : undefined)
    let service: ReturnType<typeof startService>
    const apps = applications(() => service)
    let lists = 0
    service = startService(
      store,
      (adapters) =>
        interceptCalls(adapters, ({ method }, apply) => {
          if (method === 'list') lists++
          return apply()
        }),
      apps.outside,
    )
    for (let n = 0; n < OTHERS; n++) await open(store, `a${n}@acme.example`, 'native', false)
    for (const name of ['x', 'y', 'z']) await open(store, `${name}@acme.example`, 'demo', told)
    const at = Math.floor(store.clock.now() / 1000)
    const which = { of: 'client', client: 'demo' } as const
    await createEnding(store.adapters().state, { id: 'A', which, cause: 'operator', by: 'system', at })

    const due = async () => (await store.adapters().state.list('logout-due.')).entries
    for (let ticks = 0; (await due()).length > 0; ticks++) {
      expect(ticks).toBeLessThan(12)
      lists = 0
      const { issuer, telling } = service.services
      await resumeEndings({ ...issuer, ...telling, calls: budgetOf(CALLS) })
      expect(lists).toBeLessThanOrEqual(CALLS)
    }
    const left = Object.keys(await contents(store)).filter((key) => key.startsWith('ses.'))
    expect([left.length, left.some((key) => /^ses\.[xyz]~/.test(key))]).toEqual([OTHERS, false])
    expect(apps.told.map(({ sub }) => sub).sort()).toEqual(told ? ['x', 'y', 'z'].map((name) => `${name}@acme.example`) : [])
  })
})
