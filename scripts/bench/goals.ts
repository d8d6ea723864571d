import type { Summary } from './figures.ts'

/** What a refresh at this many connections has to reach. */
export const GOAL_CONNECTIONS = 8

const TIMES_EDGE_PEER = 2
const OF_CEILING = 0.5
const CPU = 1.5 // ms

/** Each goal with what was measured, a line each: medians. One that can't be told, because the platform does not say, is not reached. */
export function goals({ ours, edgePeer, ceiling }: { ours: Summary; edgePeer: Summary; ceiling: Summary }): string[] {
  const perSecond = ours.perSecond?.median ?? Number.NaN
  const cpu = ours.cpu?.median ?? Number.NaN
  const toEdgePeer = perSecond / (edgePeer.perSecond?.median ?? Number.NaN)
  const toCeiling = perSecond / (ceiling.perSecond?.median ?? Number.NaN)
  return [
    `at least ${TIMES_EDGE_PEER}x the edge peer: ${verdict(toEdgePeer >= TIMES_EDGE_PEER, `${toEdgePeer.toFixed(2)}x`)}`,
    `at least ${OF_CEILING}x the ceiling: ${verdict(toCeiling >= OF_CEILING, `${toCeiling.toFixed(2)}x`)}`,
    `under ${CPU} ms of CPU a request: ${verdict(cpu < CPU, `${cpu.toFixed(2)} ms`)}`,
  ]
}

function verdict(reached: boolean, measured: string): string {
  return `${reached ? 'reached' : 'NOT reached'}, ${measured}`
}
