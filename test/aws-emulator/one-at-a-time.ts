/** Runs what has one name after one another, in the order asked. */
export function oneAtATime(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = last.get(name)
    const mine = before === undefined ? work() : before.then(work, work)
    last.set(name, mine)
    const done = () => {
      if (last.get(name) === mine) last.delete(name)
    }
    mine.then(done, done)
    return mine
  }
}
