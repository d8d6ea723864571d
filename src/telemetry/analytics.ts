import { createMeter, type Meter } from './metrics.ts'

/** What is asked of the binding: an AnalyticsEngineDataset as it is. */
export interface Dataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void
}

/**
 * A meter that writes to Workers Analytics Engine. A data point is a series of one invocation: `index1` and `blob1` its name, `blob2` and
 * on its labels, `double1` how many, `double2` and `double3` the ms of all and of the longest.
 */
export function analyticsMeter(dataset: Dataset): Meter {
  return createMeter((series) => {
    for (const { name, labels, count, total, longest } of series)
      dataset.writeDataPoint({ indexes: [name], blobs: [name, ...labels], doubles: [count, total, longest] })
  })
}
