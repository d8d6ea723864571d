import { expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { renewRecords } from './renew.ts'

const DAY = 86_400

function instance() {
  let now = Date.UTC(2026, 10, 30)
  const clock = { now: () => now }
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  return {
    state,
    pass: (days: number) => {
      now += days * DAY * 1_000
    },
  }
}

const terms = { lifetime: 30 * DAY, under: 20 * DAY }

it('a record that is renewed in time outlives its first lifetime, and one that nobody renews does not', async () => {
  const { state, pass } = instance()
  await state.put('keyring.ES256:renewed', new Uint8Array([1]), terms.lifetime)
  await state.put('keyring.RS256:left', new Uint8Array([2]), terms.lifetime)
  for (let day = 0; day < 40; day++) {
    await renewRecords(state, 'keyring.ES256:', terms)
    pass(1)
  }
  expect((await state.get('keyring.ES256:renewed'))?.value).toEqual(new Uint8Array([1]))
  expect(await state.get('keyring.RS256:left')).toBeNull()
})

it('a record with enough left is not written', async () => {
  const { state, pass } = instance()
  const rev = await state.put('keyring.ES256:young', new Uint8Array([1]), terms.lifetime)
  pass(9)
  await renewRecords(state, 'keyring.ES256:', terms)
  expect(await state.peekRevision('keyring.ES256:young')).toBe(rev)
  pass(2)
  await renewRecords(state, 'keyring.ES256:', terms)
  expect(await state.peekRevision('keyring.ES256:young')).not.toBe(rev)
})

it('a record that moved or went meanwhile is left to who moved it', async () => {
  const { state, pass } = instance()
  await state.put('keyring.ES256:moved', new Uint8Array([1]), terms.lifetime)
  pass(15)
  const racing = {
    ...state,
    async update(...parameters: Parameters<typeof state.update>) {
      await state.delete('keyring.ES256:moved')
      return state.update(...parameters)
    },
  }
  await renewRecords(racing, 'keyring.ES256:', terms)
  expect(await state.get('keyring.ES256:moved')).toBeNull()
})
