import { describe, expect, it } from 'vitest'
import { memoryBlob } from '../adapters/memory/blob.ts'
import { memoryIndex } from '../adapters/memory/index-set.ts'
import { memorySecrets } from '../adapters/memory/secrets.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { measuredBlob, measuredIndex, measuredSecrets, measuredState, portCalls } from './measured-ports.ts'
import { createMeter, type Series } from './metrics.ts'

function arrange() {
  let now = 1_000
  const clock = { now: () => now }
  const sent: Series[] = []
  const meter = createMeter((series) => sent.push(...series))
  const calls = portCalls(clock, meter)
  const store = createMemoryStore()
  const counted = () => {
    meter.write()
    return sent.map(({ labels, count }) => `${labels.join(' ')} ${count}`)
  }
  const passes = (ms: number) => {
    now += ms
  }
  return { calls, clock, passes, counted, sent, memory: { store, clock, module: 'oidc' as const } }
}

describe('a measured port', () => {
  it('answers and refuses as the port does, and counts how each call ended', async () => {
    const { calls, counted, memory } = arrange()
    const state = measuredState(memoryState(memory), calls)
    await state.create('ses.ada.s1', utf8('{}'), 60)
    expect(await state.get('ses.ada.s1')).toMatchObject({ key: 'ses.ada.s1' })
    await expect(state.create('ses.ada.s1', utf8('{}'), 60)).rejects.toMatchObject({ code: 'Exists' })
    expect(counted()).toEqual(['state create ok 1', 'state get ok 1', 'state create Exists 1'])
    expect(calls.count).toBe(3)
  })

  it('has every operation its port has, and no key in what is counted', async () => {
    const { calls, counted, memory, clock } = arrange()
    const ports = [
      [memoryState(memory), measuredState],
      [memoryIndex(memory), measuredIndex],
      [memorySecrets({ clock }), measuredSecrets],
      [memoryBlob(), measuredBlob],
    ] as const
    for (const [port, measured] of ports) expect(Object.keys(measured(port as never, calls)).sort()).toEqual(Object.keys(port).sort())
    await measuredBlob(memoryBlob(), calls).write('google/cache/ada@acme.example', utf8('{}'))
    await measuredIndex(memoryIndex(memory), calls).add('issuer:sso-of:ada', 's1', 60)
    expect(counted()).toEqual(['blob write ok 1', 'index add ok 1'])
  })

  it('calls the port in the turn it is called in, so that an adapter may send several together', async () => {
    const { calls, memory } = arrange()
    const inner = memoryState(memory)
    const begun: string[] = []
    const get: typeof inner.get = (key) => {
      begun.push(key)
      return inner.get(key)
    }
    const state = measuredState({ ...inner, get }, calls)
    const both = Promise.all([state.get('a'), state.get('b')])
    expect(begun).toEqual(['a', 'b'])
    await both
  })

  it('takes the time in which a call is under way, once for several at a time', async () => {
    const { calls, passes, sent, counted } = arrange()
    const gates: (() => void)[] = []
    const call = () => calls.timed('state', 'get', () => new Promise<void>((resolve) => gates.push(resolve)))
    const both = [call(), call()]
    passes(10)
    gates[0]?.()
    await both[0]
    passes(5)
    gates[1]?.()
    await both[1]
    passes(100)
    expect([calls.count, calls.ms]).toEqual([2, 15])
    counted()
    expect(sent).toMatchObject([{ count: 2, total: 25, longest: 15 }])
  })

  it('counts what is no refusal of a port as failed', async () => {
    const { calls, counted } = arrange()
    await expect(calls.timed('secrets', 'get', () => Promise.reject(new TypeError('ada@acme.example')))).rejects.toThrow(TypeError)
    expect(counted()).toEqual(['secrets get failed 1'])
  })
})
