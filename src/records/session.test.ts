import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { personId } from '../ports/keys.ts'
import { jsonLog } from '../telemetry/log.ts'
import {
  createSession,
  findSession,
  findSessionPerson,
  listOurSessions,
  markSessionEnded,
  type Session,
  sessionLifetime,
  withdrawSession,
} from './session.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 12) }
const ada = personId('ada@acme.example')

function table() {
  const lines: string[] = []
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  return { state, lines, log: jsonLog((line) => lines.push(line), clock) }
}

const session: Session = {
  id: 's1',
  identity: ada,
  client_id: 'demo',
  how: 'code',
  scopes: ['openid'],
  auth_time: 1_796_040_000,
  issued_at: 1_796_040_000,
  expires_at: 1_796_083_200,
}

describe('a session', () => {
  it('lives twice the idle limit, and never past the absolute one', () => {
    expect(sessionLifetime({ now: 1_000, absoluteEnd: 1_000_000 }, 43_200)).toBe(86_400)
    expect(sessionLifetime({ now: 1_000, absoluteEnd: 2_000 }, 43_200)).toBe(1_000)
  })

  it('that has ended is absent to every reader, and is not opened again', async () => {
    const { state, log } = table()
    await markSessionEnded(state, ada, 's1', { ms: clock.now(), ttl: 600 })
    expect(await findSession(state, ada, 's1', log)).toBeNull()
    expect((await listOurSessions(state, ada, undefined, log)).sessions).toEqual([])
    await expect(createSession(state, session, 600)).rejects.toMatchObject({ code: 'Exists' })
    await withdrawSession(state, ada, 's1', null, log)
    await expect(createSession(state, session, 600)).rejects.toMatchObject({ code: 'Exists' })
  })

  it('belongs to nobody where no pointer names them', async () => {
    const { state } = table()
    await state.put('sid.empty', utf8(''), 600)
    expect(await findSessionPerson(state, 'empty')).toBeNull()
    expect(await findSessionPerson(state, 'nowhere')).toBeNull()
  })
})
