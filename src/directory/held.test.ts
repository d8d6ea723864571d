import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys, personId } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import { noLog } from '../telemetry/log.ts'
import type { Resolution } from './directory.ts'
import { heldDirectory } from './held.ts'

const ADA = personId('ada@acme.example')
const WINDOW = 14_400 // s
const LIVE: Resolution = { state: 'live', groups: ['a@acme.example', 'b@acme.example'], given_name: 'Ada' }

function arrange() {
  const clock = { at: 1_796_000_000_000, now: () => clock.at }
  const calls: string[] = []
  const store = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  let says: Resolution | Error = LIVE
  let down = false
  const state: State = new Proxy<State>(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...all: unknown[]) => {
        calls.push(String(name))
        return down ? Promise.reject(new PortError('Unavailable', 'a test has it so')) : Reflect.apply(member, target, all)
      }
    },
  })
  const inner = {
    async resolve() {
      if (says instanceof Error) throw says
      return says
    },
  }
  return {
    calls,
    store,
    directory: heldDirectory(inner, { state, clock, window: WINDOW, log: noLog }),
    says(next: Resolution | Error) {
      says = next
    },
    goDown(next: boolean) {
      down = next
    },
    pass(seconds: number) {
      clock.at += seconds * 1_000
    },
  }
}

const AWAY = new PortError('Unavailable', 'the directory is away')

describe('groups that are held', () => {
  it('stand in for a directory that is away, for the window and no longer', async () => {
    const { directory, says, pass } = arrange()
    expect(await directory.resolve(ADA)).toEqual(LIVE)
    says(AWAY)
    pass(WINDOW - 1)
    expect(await directory.resolve(ADA)).toEqual({ state: 'live', groups: ['a@acme.example', 'b@acme.example'], held: 1_796_000_000 })
    pass(2)
    await expect(directory.resolve(ADA)).rejects.toBe(AWAY)
  })

  it('are of one person: whom the directory never had nobody lets in', async () => {
    const { directory, says } = arrange()
    await directory.resolve(ADA)
    says(AWAY)
    await expect(directory.resolve(personId('bob@acme.example'))).rejects.toBe(AWAY)
  })

  it('are forgotten when the directory refuses the person, so that an outage lets nobody back in', async () => {
    const { directory, says, store } = arrange()
    await directory.resolve(ADA)
    says({ state: 'refused', reason: 'suspended' })
    expect(await directory.resolve(ADA)).toEqual({ state: 'refused', reason: 'suspended' })
    expect(await store.get(keys.held(ADA))).toBeNull()
    says(AWAY)
    await expect(directory.resolve(ADA)).rejects.toBe(AWAY)
  })

  it('stand while no directory answers for the domain, and are not forgotten by it', async () => {
    const { directory, says, pass } = arrange()
    await directory.resolve(ADA)
    says({ state: 'refused', reason: 'unserved' })
    expect(await directory.resolve(ADA)).toMatchObject({ state: 'live', held: 1_796_000_000 })
    pass(WINDOW + 1)
    expect(await directory.resolve(ADA)).toEqual({ state: 'refused', reason: 'unserved' })
  })

  it('are written when they differ or are an eighth of the window old, and cost one read otherwise', async () => {
    const { directory, says, calls, pass } = arrange()
    await directory.resolve(ADA)
    expect(calls.splice(0)).toEqual(['get', 'create'])
    pass(WINDOW / 8 - 1)
    says({ state: 'live', groups: ['b@acme.example', 'a@acme.example'] })
    await directory.resolve(ADA)
    expect(calls.splice(0)).toEqual(['get'])
    pass(1)
    await directory.resolve(ADA)
    expect(calls.splice(0)).toEqual(['get', 'update'])
    says({ state: 'live', groups: ['b@acme.example'] })
    await directory.resolve(ADA)
    expect(calls.splice(0)).toEqual(['get', 'update'])
    says({ state: 'live', groups: ['c@acme.example'] })
    await directory.resolve(ADA)
    expect(calls.splice(0)).toEqual(['get', 'update'])
    says(AWAY)
    expect(await directory.resolve(ADA)).toMatchObject({ groups: ['c@acme.example'] })
    expect(calls).toEqual(['get'])
  })

  it('are no condition of an answer: a store that is down is only missed when the directory is', async () => {
    const { directory, says, goDown } = arrange()
    await directory.resolve(ADA)
    goDown(true)
    expect(await directory.resolve(ADA)).toEqual(LIVE)
    says({ state: 'refused', reason: 'unknown' })
    expect(await directory.resolve(ADA)).toEqual({ state: 'refused', reason: 'unknown' })
    says(AWAY)
    await expect(directory.resolve(ADA)).rejects.toBe(AWAY)
  })

  it('do not stand in for what is wrong with us', async () => {
    const { directory, says } = arrange()
    await directory.resolve(ADA)
    const ours = new TypeError('not an outage')
    says(ours)
    await expect(directory.resolve(ADA)).rejects.toBe(ours)
  })

  it('of an unreadable record are none', async () => {
    const { directory, says, store } = arrange()
    await store.put(keys.held(ADA), utf8('{"groups":"all"}'), WINDOW)
    says(AWAY)
    await expect(directory.resolve(ADA)).rejects.toBe(AWAY)
  })
})
