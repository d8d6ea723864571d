/** What is still to be told, and to whom first. */
export interface FairQueue<Item> {
  /** The next to tell, until `done` under way: of the clients that wait, one with the fewest under way. Undefined when none is left. */
  take(): Item | undefined
  done(item: Item): void
  /** Takes away all that still waits for a client. */
  drop(client: string): Item[]
}

/** A queue in which a slow client delays no other: while others wait, it has no more calls under way than any of them. */
export function fairQueue<Item extends { readonly client_id: string }>(items: readonly Item[]): FairQueue<Item> {
  const lines = new Map<string, { waiting: Item[]; underWay: number }>()
  for (const item of items) {
    const line = lines.get(item.client_id)
    if (line === undefined) lines.set(item.client_id, { waiting: [item], underWay: 0 })
    else line.waiting.push(item)
  }

  return {
    take() {
      const waiting = [...lines.values()].filter((line) => line.waiting.length > 0)
      const fewest = Math.min(...waiting.map((line) => line.underWay))
      const line = waiting.find(({ underWay }) => underWay === fewest)
      if (line === undefined) return undefined
      line.underWay += 1
      return line.waiting.shift()
    },

    done({ client_id }) {
      const line = lines.get(client_id)
      if (line !== undefined) line.underWay -= 1
    },

    drop(client) {
      return lines.get(client)?.waiting.splice(0) ?? []
    },
  }
}
