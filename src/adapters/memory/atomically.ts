import type { Scheduler } from './scheduler.ts'

/** Does an operation at once; others may go first before it takes effect and after it has, never within. */
export async function atomically<T>(scheduler: Scheduler, operation: () => T): Promise<T> {
  await scheduler.pause()
  try {
    return operation()
  } finally {
    await scheduler.pause()
  }
}
