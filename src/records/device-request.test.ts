import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { sha256Hex } from '../crypto/digest.ts'
import { noLog } from '../telemetry/log.ts'
import {
  answerDeviceRequest,
  createDeviceRequest,
  DEVICE_REQUEST_LIFETIME,
  deleteDeviceRequest,
  findByUserCode,
  findDeviceRequest,
} from './device-request.ts'

const START = Date.UTC(2026, 10, 30, 12)

async function waiting() {
  let ms = START
  const clock = { now: () => ms }
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  const hash = await sha256Hex('sld_x')
  const value = { client_id: 'native', scopes: ['openid'], user_code: 'BCDFGHJK', expires_at: START / 1000 + DEVICE_REQUEST_LIFETIME }
  await createDeviceRequest(state, hash, value)
  return {
    ...{ state, hash, value },
    now: () => Math.floor(ms / 1000),
    advance(seconds: number) {
      ms += seconds * 1000
    },
  }
}

const approval = { identity: 'ada@acme.example', groups: [], method: 'picker', acr: 'a', auth_time: START / 1000, sign_in: 's' }

describe('a device request', () => {
  it('is found by either code, and lasts ten minutes', async () => {
    const { state, hash, value, advance } = await waiting()
    expect((await findDeviceRequest(state, hash, noLog))?.value).toEqual(value)
    expect((await findByUserCode(state, 'BCDFGHJK', noLog))?.value).toEqual(value)
    advance(599)
    expect(await findByUserCode(state, 'BCDFGHJK', noLog)).not.toBeNull()
    advance(1)
    expect(await findByUserCode(state, 'BCDFGHJK', noLog)).toBeNull()
    expect(await findDeviceRequest(state, hash, noLog)).toBeNull()
  })

  it('leaves a user code that somebody has to them', async () => {
    const { state, hash, value } = await waiting()
    const second = await sha256Hex('sld_y')
    await expect(createDeviceRequest(state, second, value)).rejects.toMatchObject({ code: 'Exists' })
    expect(await findDeviceRequest(state, second, noLog)).toBeNull()
    expect(await state.get(`req.uc-BCDFGHJK`).then((entry) => new TextDecoder().decode(entry?.value))).toBe(hash)
  })

  it('keeps the first of two answers to what both saw', async () => {
    const { state, hash, now } = await waiting()
    const seen = await findDeviceRequest(state, hash, noLog)
    if (seen === null) throw new Error('it is gone')
    await answerDeviceRequest(state, seen, { approval }, now())
    await expect(answerDeviceRequest(state, seen, { denied: true }, now())).rejects.toMatchObject({ code: 'Conflict' })
    expect((await findDeviceRequest(state, hash, noLog))?.value).toMatchObject({ approval, client_id: 'native' })
  })

  it('lives no longer for being answered', async () => {
    const { state, hash, now, advance } = await waiting()
    advance(590)
    const seen = await findDeviceRequest(state, hash, noLog)
    if (seen === null) throw new Error('it is gone')
    await answerDeviceRequest(state, seen, { approval }, now())
    advance(10)
    expect(await findDeviceRequest(state, hash, noLog)).toBeNull()
  })

  it('goes with its user code', async () => {
    const { state, hash, value } = await waiting()
    await deleteDeviceRequest(state, hash, value.user_code)
    expect((await state.list('req.')).entries).toEqual([])
  })

  it('is not found where the user code points at nothing', async () => {
    const { state, hash } = await waiting()
    await state.delete(`req.dc-${hash}`)
    expect(await findByUserCode(state, 'BCDFGHJK', noLog)).toBeNull()
    expect(await findByUserCode(state, 'ZZZZZZZZ', noLog)).toBeNull()
  })
})
