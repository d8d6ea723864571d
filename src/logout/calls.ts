/** How many calls an invocation has left, of the store's and the network's together: the platform stops it where they end. */
export interface Calls {
  left(): number
  spend(count: number): void
}

export function callBudget(calls: number): Calls {
  let left = calls
  return {
    left: () => left,
    spend(count) {
      left -= count
    },
  }
}
