/** How many records go at once: as many as a Worker has connections, twice. */
export const IN_A_GROUP = 12

/**
 * Does `work` on each, a group at a time, in the order of `items`. The calls of a group are made in one turn, so that those to one object
 * are one message. One that fails keeps none of the others.
 *
 * @throws what the first that failed threw, once all were tried
 */
export async function inGroups<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const done: PromiseSettledResult<Result>[] = []
  for (let from = 0; from < items.length; from += IN_A_GROUP) {
    done.push(...(await Promise.allSettled(items.slice(from, from + IN_A_GROUP).map(work))))
  }
  return done.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}
