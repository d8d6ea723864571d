import type { Runners } from '../adapters/object/runners.ts'
import type { StoreCheck } from '../issuer/health.ts'
import type { Clock } from '../ports/platform.ts'
import type { Log } from '../telemetry/log.ts'
import { isStale, parseJournal } from '../ticks/journal.ts'
import { isDue } from '../ticks/schedule.ts'
import type { Tick, TickFamily, Ticks } from '../ticks/tick.ts'

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

/** minutes between two looks: a stale tick is an alarm, and one an hour would come late */
const LOOK_EVERY = 15

/**
 * In the cron, now and then: a line for each tick that has gone stale. One that was never poked is no news here, for then it is the cron that does not run.
 *
 * @param scheduled unix ms: the minute the cron fired for
 */
export async function logStale(
  scheduled: number,
  ticks: Ticks,
  { runners, clock, log }: { runners: Runners; clock: Clock; log: Log },
): Promise<void> {
  if (!isDue({ every: LOOK_EVERY }, scheduled)) return
  const all = [...ticks.fixed, ...(await Promise.all(ticks.families.map((family) => family.all()))).flat()]
  await Promise.all(
    all.map(async ({ kind, target, every }) => {
      const journal = parseJournal(await runners.status({ kind, target }))
      if (journal === null || !isStale(journal, every, clock.now())) return
      const seconds = Math.floor((clock.now() - (journal.good?.finishedAt ?? journal.since)) / 1_000)
      log.error('tick.stale', {
        kind,
        target,
        seconds,
        reason: 'it has not gone well for that long: what failed is in the log, tick.failed',
      })
    }),
  )
}

async function staleWords({ kind, target, every }: Tick, runners: Runners, clock: Clock): Promise<string | null> {
  const journal = parseJournal(await runners.status({ kind, target }))
  if (!isStale(journal, every, clock.now())) return null
  const last = journal?.good ?? null
  const when = last === null ? 'has not run yet' : `last went well at ${new Date(last.finishedAt).toISOString()}`
  return `it is due every ${every} min and ${when}: is the cron running? What failed is in the log, tick.failed`
}
