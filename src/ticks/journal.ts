import * as z from 'zod'

export const run = z.object({
  /** unix ms: the due time it was for; null when only a hint asked for it */
  due: z.number().nullable(),
  /** unix ms */
  startedAt: z.number(),
  /** unix ms */
  finishedAt: z.number(),
  outcome: z.enum(['ran', 'more', 'contended', 'failed', 'skipped']),
  /** Of a failed one: class, code and, of our own errors, the message. */
  error: z.object({ name: z.string(), code: z.string().optional(), message: z.string().optional() }).optional(),
})

const journal = z.object({
  kind: z.string(),
  target: z.string(),
  /** unix ms: when it was first asked to run */
  since: z.number(),
  /** unix ms: the newest due time it was asked to run at; null when it never was */
  due: z.number().nullable(),
  /** unix ms: a run was begun here, and has not ended or was cut short; else null */
  running: z.number().nullable(),
  last: run.nullable(),
  /** The last that did something without failing. */
  good: run.nullable(),
})

/** One run, or one slice of it. */
export type Run = z.infer<typeof run>

/** What a runner remembers of its target. */
export type Journal = z.infer<typeof journal>

/** null: nothing is remembered, or what is does not parse, which is as good as nothing. */
export function parseJournal(kept: unknown): Journal | null {
  const parsed = journal.safeParse(kept)
  return parsed.success ? parsed.data : null
}

export function isGood({ outcome }: Run): boolean {
  return outcome === 'ran' || outcome === 'more'
}

const MINUTE = 60_000 // ms

/** minutes beside the two periods: a store that was down, a cron that came late */
const LATE = 5

/**
 * Whether a target has gone without a good run for so long that two due times in a row must have failed or never come.
 *
 * @param every minutes from one due time to the next
 * @param now unix ms
 */
export function isStale(status: Journal | null, every: number, now: number): boolean {
  if (status === null) return true
  const { good, since } = status
  return now - (good?.finishedAt ?? since) > (2 * every + LATE) * MINUTE
}
