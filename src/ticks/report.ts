import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import type { Blob } from '../ports/blob.ts'
import { isPortError } from '../ports/error.ts'
import type { Budget } from './budget.ts'
import { isGood, type Run, run } from './journal.ts'
import type { Tick } from './tick.ts'

const report = z.object({
  version: z.literal(1),
  kind: z.string(),
  target: z.string(),
  /** The newest run. */
  tick: run,
  /** What the last run that did not fail said of its work, and when (unix ms). */
  details: z.record(z.string(), z.unknown()),
  good: z.number().nullable(),
})

/** What a target's last runs came to, for people and for the console. */
export type Report = z.output<typeof report>

/** `<module>/reports/<target>`; of a target that several kinds have, such as `all`, `<module>/reports/<kind>`. */
export function reportName({ module, kind, target }: Pick<Tick, 'module' | 'kind' | 'target'>): string {
  return `${module}/reports/${target === 'all' ? kind : target}`
}

/** Replaces a target's report. After a run that failed it still holds what the last good one said. @throws PortError Unavailable */
export async function writeReport(
  blob: Blob,
  tick: Tick,
  ran: Run,
  details: Readonly<Record<string, unknown>>,
  budget: Budget,
): Promise<void> {
  const { kind, target } = tick
  const now: Report = { version: 1, kind, target, tick: ran, details, good: ran.finishedAt }
  budget.spend(1)
  await blob.write(reportName(tick), utf8(JSON.stringify(isGood(ran) ? now : { ...now, ...(await lastGood(blob, tick, budget)) })))
}

async function lastGood(blob: Blob, tick: Tick, budget: Budget): Promise<Pick<Report, 'details' | 'good'>> {
  budget.spend(1)
  const { details, good } = (await readReport(blob, tick)) ?? { details: {}, good: null }
  return { details, good }
}

/** null: there is none, or what is there is none. @throws PortError Unavailable */
export async function readReport(blob: Blob, tick: Pick<Tick, 'module' | 'kind' | 'target'>): Promise<Report | null> {
  try {
    const { body } = await blob.read(reportName(tick))
    return report.safeParse(JSON.parse(fromUtf8(body) ?? 'null')).data ?? null
  } catch (error) {
    if (isPortError(error, 'NotFound') || error instanceof SyntaxError) return null
    throw error
  }
}
