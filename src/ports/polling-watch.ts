import { toPortError } from './error.ts'
import type { Change, Rev } from './state.ts'

export interface PollingWatchOptions {
  signal: AbortSignal
  /** ms between two polls. */
  interval: number
  /** Every live record under the watched prefix, and its revision. */
  snapshot: () => Promise<Map<string, Rev>>
}

/** Polls in a row that may fail: one or two is an engine that moved, three is one that is down. */
const FAILURES = 3

/**
 * Watches by listing again: what changed between two listings, first what was put and then what is gone. The first listing starts
 * with the call, so a write made after that was answered is seen. Two writes between polls are one change, a write and a delete none.
 *
 * @throws PortError the first listing's at the first step; Unavailable when three polls in a row failed
 */
export function watchByPolling(options: PollingWatchOptions): AsyncIterable<Change> {
  const { signal } = options
  const first = signal.aborted ? Promise.resolve(new Map<string, Rev>()) : options.snapshot()
  first.catch(() => {}) // It is thrown where it is awaited, below; a watch that is never read must not be an unhandled rejection.
  return changes(first, options)
}

async function* changes(first: Promise<Map<string, Rev>>, { signal, interval, snapshot }: PollingWatchOptions): AsyncGenerator<Change> {
  let before = await first.catch((error) => {
    throw toPortError(error, 'the first listing of a watch')
  })
  let failures = 0
  while (await pause(interval, signal)) {
    try {
      const after = await snapshot()
      failures = 0
      for (const change of difference(before, after)) {
        if (signal.aborted) return
        yield change
      }
      before = after
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      if (failures === FAILURES) throw toPortError(error, 'a watch')
    }
  }
}

function difference(before: Map<string, Rev>, after: Map<string, Rev>): Change[] {
  const changed: Change[] = []
  for (const [key, rev] of after) if (before.get(key) !== rev) changed.push({ type: 'put', key, rev })
  for (const [key, rev] of before) if (!after.has(key)) changed.push({ type: 'delete', key, rev })
  return changed
}

/** False when the signal ended the wait. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = (waited: boolean) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(waited)
    }
    const onAbort = () => end(false)
    const timer = setTimeout(() => end(true), ms)
    signal.addEventListener('abort', onAbort)
  })
}
