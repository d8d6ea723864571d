import { isPortError } from '../ports/error.ts'
import { locatePrefix, shardsOf } from '../ports/layout5.ts'
import type { Fetch } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'

/** How many calls an invocation has left, of stores and of the network together. Below 0 it has made more than it should. */
export interface Budget {
  left(): number
  spend(calls: number): void
}

export function budgetOf(calls: number): Budget {
  let left = calls
  return {
    left: () => left,
    spend(count) {
      left -= count
    },
  }
}

/**
 * A port whose every call is spent, and one that ends in Unavailable twice: adapters send again what they have no answer to. Nothing is
 * refused: who works with it asks what is left.
 */
export function counted<Port extends object>(port: Port, budget: Budget): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...all: unknown[]) => {
        budget.spend(1)
        const answer: unknown = Reflect.apply(member, target, all)
        return answer instanceof Promise ? spentTwiceWhenUnavailable(answer, budget) : answer
      }
    },
  })
}

/** As `counted`; a listing is as many calls as the shards it is merged from. */
export function countedState(state: State, budget: Budget): State {
  const each = counted(state, budget)
  return {
    ...each,
    list(prefix, options) {
      budget.spend(shardsUnder(prefix) - 1)
      return each.list(prefix, options)
    },
  }
}

export function countedFetch(fetch: Fetch, budget: Budget): Fetch {
  return (...call) => {
    budget.spend(1)
    return fetch(...call)
  }
}

async function spentTwiceWhenUnavailable(answer: Promise<unknown>, budget: Budget): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (isPortError(error, 'Unavailable')) budget.spend(1)
    throw error
  }
}

function shardsUnder(prefix: string): number {
  return Math.max(1, shardsOf(locatePrefix(prefix)).length)
}
