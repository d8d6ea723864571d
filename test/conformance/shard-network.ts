import { env } from 'cloudflare:workers'
import type { Op, ShardNamespace } from '../../src/adapters/durable-object/protocol.ts'

/** What befalls one message to an object. */
export interface Fate {
  /** ms before it reaches the object, and before its answer reaches the caller. */
  delays?: readonly [number, number]
  /** Thrown instead of reaching the object. */
  fails?: Error
  /** Thrown instead of the answer, after the object did it all. */
  loses?: Error
}

export interface ShardNetwork extends ShardNamespace {
  /** Every message so far. */
  messages: { object: string; ops: readonly Op[] }[]
  /** How many stubs were made. */
  stubs: number
  /** The most messages that were under way at once. */
  busiest: number
}

/** The objects as workerd runs them, behind a network that decides what befalls each message. */
export function shardNetwork(fateOf: (ops: readonly Op[], message: number) => Fate = () => ({})): ShardNetwork {
  let underWay = 0
  const namespace: ShardNamespace = env.STATE_SHARD
  const network: ShardNetwork = {
    messages: [],
    stubs: 0,
    busiest: 0,
    getByName(object, options) {
      network.stubs += 1
      const stub = namespace.getByName(object, options)
      return {
        async run(ops) {
          const { delays = [0, 0], fails, loses } = fateOf(ops, network.messages.length)
          network.messages.push({ object, ops })
          underWay += 1
          network.busiest = Math.max(network.busiest, underWay)
          try {
            if (delays[0] > 0) await scheduler.wait(delays[0])
            if (fails) throw fails
            const answers = await stub.run(ops)
            if (delays[1] > 0) await scheduler.wait(delays[1])
            if (loses) throw loses
            return answers
          } finally {
            underWay -= 1
          }
        },
      }
    },
  }
  return network
}

/** ms: enough that messages pass one another in both directions. */
const LATENCY = 2

export function someDelays(): [number, number] {
  return [Math.random() * LATENCY, Math.random() * LATENCY]
}

export function connectionLost(): Error {
  return new Error('Network connection lost.')
}

/** As the platform marks it. */
export function overloaded(): Error {
  return Object.assign(new Error('Durable Object is overloaded.'), { overloaded: true, retryable: true })
}

let instances = 0

/** The name of an instance, and so of objects, that no other test of this file has. */
export function freshInstance(): string {
  return `test-${instances++}`
}
