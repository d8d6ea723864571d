import type { Blob } from '../../ports/blob.ts'
import { PortError } from '../../ports/error.ts'
import type { Clock } from '../../ports/platform.ts'
import type { State } from '../../ports/state.ts'
import { isConnected } from '../../records/workspace.ts'
import { OutOfCalls } from './google-error.ts'
import { RESERVE } from './job.ts'
import { removeAll } from './leftovers.ts'
import { cacheOf } from './manifest.ts'
import type { RefreshSlice } from './refresh-slice.ts'

/** Whether the Workspace is not connected any more. False where that can't be told: then nothing of it is touched. */
export async function wasLetGo(workspace: string, slice: RefreshSlice, { state }: { state: Pick<State, 'get'> }): Promise<boolean> {
  try {
    slice.check()
    slice.budget.spend(1)
    return !(await isConnected(state, workspace))
  } catch {
    return false
  }
}

/**
 * Removes what a refresh wrote of a Workspace that was let go under it: who let it go has removed what there was by then, and nobody comes
 * again for the rest.
 *
 * @returns `more` when the slice had calls for some of it. @throws PortError Unavailable
 */
export async function removeLetGo(
  workspace: string,
  slice: RefreshSlice,
  { blob, clock }: { blob: Blob; clock: Clock },
): Promise<'more' | 'skipped'> {
  const { budget } = slice
  let removed = 0
  const check = () => {
    slice.check()
    if (budget.left() <= RESERVE || clock.now() >= slice.deadline) throw new OutOfCalls()
  }
  const remove = async (name: string) => {
    budget.spend(1)
    await blob.delete(name)
    removed += 1
  }
  try {
    check()
    budget.spend(1)
    await removeAll(await blob.list(cacheOf(workspace)), { delete: remove }, check)
    return 'skipped'
  } catch (error) {
    if (!(error instanceof OutOfCalls)) throw error
    if (removed === 0) throw tooFewCalls()
    return 'more'
  }
}

export function tooFewCalls(): PortError {
  return new PortError('Unavailable', 'a slice may make too few calls to get on with this Workspace')
}
