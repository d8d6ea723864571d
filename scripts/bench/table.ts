import type { Spread, Summary } from './figures.ts'

/** One server's figures in a table, in the order they are shown; the first is the one the others are compared with. */
export interface Row {
  name: string
  summary: Summary
}

const MIB = 1_048_576 // bytes

/** The servers side by side: medians, with the least and the most of all runs in brackets, and how many times a server the first one is. */
export function table(rows: readonly Row[]): string {
  const ours = rows[0]?.summary.perSecond ?? null
  const header = ['', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms/req', 'peak MiB', 'log/req', 'ours is']
  const cells = rows.map(({ name, summary }, at) => [
    name,
    ranged(summary.perSecond, 0),
    ranged(summary.p50, 2),
    ranged(summary.p99, 2),
    ranged(summary.cpu, 2),
    bare(summary.peakMemory, 0, MIB),
    bare(summary.logLines, 1),
    at === 0 ? '' : times(ours, summary.perSecond),
  ])
  return columns([header, ...cells])
}

/** `2.05x` */
export function times(ours: Spread | null, theirs: Spread | null): string {
  return ours === null || theirs === null ? 'n/a' : `${(ours.median / theirs.median).toFixed(2)}x`
}

function ranged(spread: Spread | null, digits: number): string {
  if (spread === null) return 'n/a'
  const { median, min, max } = spread
  const middle = median.toFixed(digits)
  return min === max ? middle : `${middle} (${min.toFixed(digits)}..${max.toFixed(digits)})`
}

function bare(spread: Spread | null, digits: number, unit = 1): string {
  return spread === null ? 'n/a' : (spread.median / unit).toFixed(digits)
}

/** The first column to the left, figures to the right. */
function columns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const padded = (line: readonly string[]) =>
    line.map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join('  ')
  return lines.map((line) => padded(line).trimEnd()).join('\n')
}
