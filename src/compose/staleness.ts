import type { Runners } from '../adapters/object/runners.ts'
import type { StoreCheck } from '../issuer/health.ts'
import type { Clock } from '../ports/platform.ts'
import { isStale, parseJournal } from '../ticks/journal.ts'
import type { Tick, TickFamily } from '../ticks/tick.ts'

/** A tick that has not gone well for a while: its work waits, and nobody is refused for it. */
export function staleness(tick: Tick, runners: Runners, clock: Clock): StoreCheck {
  return { name: `tick ${tick.kind}:${tick.target}`, concern: () => staleWords(tick, runners, clock) }
}

/** The same of each of a family's. */
export function familyStaleness({ kind, all }: TickFamily, runners: Runners, clock: Clock): StoreCheck {
  return {
    name: `ticks ${kind}`,
    async concern() {
      const said = await Promise.all((await all()).map(async (tick) => [tick.target, await staleWords(tick, runners, clock)] as const))
      const stale = said.filter(([, words]) => words !== null)
      return stale.length === 0 ? null : stale.map(([target, words]) => `${target}: ${words}`).join('; ')
    },
  }
}

async function staleWords({ kind, target, every }: Tick, runners: Runners, clock: Clock): Promise<string | null> {
  const journal = parseJournal(await runners.status({ kind, target }))
  if (!isStale(journal, every, clock.now())) return null
  const last = journal?.good ?? null
  const when = last === null ? 'has not run yet' : `last went well at ${new Date(last.finishedAt).toISOString()}`
  return `it is due every ${every} min and ${when}: is the cron running? What failed is in the log, tick.failed`
}
