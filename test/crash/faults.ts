import type { Adapters } from '../../src/compose.ts'
import { PortError } from '../../src/ports/error.ts'
import type { Engine } from '../flows/harness.ts'
import { interceptCalls, type PortCall } from './port-calls.ts'

/**
 * What befalls the nth port call of a flow.
 *
 * - `stops`: the process dies. The call is applied, nothing after it is, and the request is never answered.
 * - `loses the answer`: the call is applied, and the flow is told `Unavailable`.
 * - `fails`: the flow is told `Unavailable`, and nothing was applied.
 * - `goes down`: as `fails`, and so does every call after it, until the store is mended.
 */
export type Fault = 'stops' | 'loses the answer' | 'fails' | 'goes down'

/** What is tried on each engine: being down is the same to a flow whatever is down. */
export const faultsOn: Record<Engine, readonly Fault[]> = {
  memory: ['stops', 'loses the answer', 'fails', 'goes down'],
  'durable-object': ['stops', 'loses the answer', 'fails'],
  dynamodb: ['stops', 'loses the answer', 'fails'],
}

/** One isolate's bad luck. */
export interface Misfortune {
  wrap(adapters: Adapters): Adapters
  /** From here on calls are counted, and the nth has the fault. */
  strikes(fault: Fault, nth: number): void
  /** Nothing fails any more. */
  mend(): void
  /** The calls since it struck, with those that were never applied. */
  calls: PortCall[]
  /** What `work` came to, or `stopped` when the process died first. */
  outcome<T>(work: Promise<T>): Promise<T | 'stopped'>
}

/** An isolate nothing befalls until it `strikes`. */
export function misfortune(): Misfortune {
  const calls: PortCall[] = []
  const underWay = new Set<Promise<unknown>>()
  let plan: { fault: Fault; nth: number } | null = null
  let life = aLife()

  async function applied<T>(apply: () => Promise<T>): Promise<T> {
    const answer = apply()
    underWay.add(answer)
    try {
      return await answer
    } finally {
      underWay.delete(answer)
    }
  }

  async function befall<T>(fault: Fault, lead: number, apply: () => Promise<T>): Promise<T> {
    switch (fault) {
      case 'stops':
        if (lead > 0) return applied(apply)
        if (lead < 0) return never()
        await applied(apply).catch(() => undefined)
        await Promise.allSettled(underWay) // Those of the same turn were sent before: they arrive.
        life.end()
        return never()
      case 'loses the answer':
        if (lead !== 0) return apply()
        await apply().catch(() => undefined)
        throw unavailable()
      case 'fails':
        if (lead !== 0) return apply()
        throw unavailable()
      case 'goes down':
        if (lead > 0) return apply()
        throw unavailable()
    }
  }

  return {
    calls,
    wrap: (adapters) =>
      interceptCalls(adapters, (call, apply) => {
        calls.push(call)
        return plan === null ? apply() : befall(plan.fault, plan.nth - calls.length, apply)
      }),
    strikes(fault, nth) {
      calls.length = 0
      life = aLife()
      plan = { fault, nth }
    },
    mend() {
      plan = null
    },
    outcome: (work) => Promise.race([work, life.ended]),
  }
}

/** From one strike to the next: an isolate that stopped is used again as if it were another. */
function aLife(): { ended: Promise<'stopped'>; end(): void } {
  const { promise, resolve } = Promise.withResolvers<'stopped'>()
  return { ended: promise, end: () => resolve('stopped') }
}

function never(): Promise<never> {
  return new Promise(() => {})
}

function unavailable(): PortError {
  return new PortError('Unavailable', 'a test has it that this call fails')
}
