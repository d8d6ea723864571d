import type { Blob } from '../../ports/blob.ts'
import type { Clock, Random } from '../../ports/platform.ts'
import type { State } from '../../ports/state.ts'
import type { Workspace } from '../../records/workspace.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ClientMaker } from './clients.ts'
import { OutOfCalls } from './google-error.ts'
import type { RefreshSlice } from './refresh-slice.ts'

export interface RefreshParts {
  /** Of module google. */
  state: State
  blob: Blob
  clients: ClientMaker
  clock: Clock
  random: Random
  log: Log
}

/**
 * Calls that a slice keeps back: to save what it read (objects of rows, and how far it is) or to swap the manifest and keep the domains, to
 * give back its lease and to write its report, some of which are sent twice.
 */
export const RESERVE = 12

/** One slice of the refresh of one Workspace. */
export interface Job extends RefreshParts {
  workspace: Workspace
  slice: RefreshSlice
  /** Whether it has come any further than the slice before. */
  advanced: boolean
  /** Throws OutOfCalls where no more may be begun, and what ends the slice. */
  checkRoom(): void
}

/** With every call of the store counted, and a removal taken for progress. */
export function jobOf(workspace: Workspace, slice: RefreshSlice, parts: RefreshParts): Job {
  const { budget } = slice
  const { blob } = parts
  const spent = <T>(call: () => Promise<T>): Promise<T> => {
    budget.spend(1)
    return call()
  }
  const job: Job = {
    ...parts,
    workspace,
    slice,
    advanced: false,
    blob: {
      ...blob,
      read: (name) => spent(() => blob.read(name)),
      write: (name, body) => spent(() => blob.write(name, body)),
      writeIfVersion: (name, body, version) => spent(() => blob.writeIfVersion(name, body, version)),
      list: (prefix) => spent(() => blob.list(prefix)),
      async delete(name) {
        await spent(() => blob.delete(name))
        job.advanced = true
      },
    },
    checkRoom() {
      slice.check()
      if (budget.left() <= RESERVE || parts.clock.now() >= slice.deadline) throw new OutOfCalls()
    },
  }
  return job
}
