/** One measurement of one server. Times in milliseconds, memory in bytes; null where the platform does not say. */
export interface Measured {
  perSecond: number
  p50: number
  p99: number
  /** Process CPU time of the server, all threads, a request. */
  cpu: number | null
  peakMemory: number | null
  /** Lines the server logged, a request. */
  logLines: number
}

export type Figure = keyof Measured

/** A figure over several runs. */
export interface Spread {
  median: number
  min: number
  max: number
}

export type Summary = { [figure in Figure]: Spread | null }

/** The figures of one measurement, each over all its runs. A figure that one run lacks, all lack. */
export function summarise(runs: readonly Measured[]): Summary {
  const over = (figure: Figure): Spread | null => {
    const values = runs.map((run) => run[figure]).filter((value) => value !== null)
    return values.length < runs.length ? null : spread(values)
  }
  return {
    perSecond: over('perSecond'),
    p50: over('p50'),
    p99: over('p99'),
    cpu: over('cpu'),
    peakMemory: over('peakMemory'),
    logLines: over('logLines'),
  }
}

/** null of no values. */
export function spread(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((a, b) => a - b)
  const [min] = sorted
  const max = sorted.at(-1)
  if (min === undefined || max === undefined) return null
  return { median: median(sorted), min, max }
}

/**
 * The value that `share` (0 to 1) of all values are at most, by nearest rank: always one that was measured. NaN of no values.
 *
 * @param sorted ascending
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

function median(sorted: readonly number[]): number {
  const upper = Math.floor(sorted.length / 2)
  const lower = sorted.length % 2 === 0 ? upper - 1 : upper
  return ((sorted[lower] ?? Number.NaN) + (sorted[upper] ?? Number.NaN)) / 2
}
