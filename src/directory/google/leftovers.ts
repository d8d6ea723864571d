import type { Blob } from '../../ports/blob.ts'
import { manifestName } from './manifest.ts'
import { isProgress, startedAtOf, versionOf } from './reading.ts'

/** ms: nobody works on a reading for so long; one that is as old was given up */
const GIVEN_UP = 3_600_000
const AT_ONCE = 6

/**
 * The objects that nothing will read again: versions no newer than the one that counts, what that one was made of, and readings long given up.
 * A newer version is somebody's work, who may be about to swap the manifest to it.
 *
 * @param of `current`: the version that the manifest names; null: none yet
 */
export function leftovers(workspace: string, names: readonly string[], of: { current: string | null; now: number }): string[] {
  return names.filter((name) => {
    if (name === manifestName(workspace)) return false
    const version = versionOf(workspace, name)
    if (version === null) return false // not ours to remove
    if (version === of.current) return name.includes(`/${version}/work/`)
    if (of.current !== null && startedAtOf(version) <= startedAtOf(of.current)) return true // it can never be swapped to
    return of.now - startedAtOf(version) > GIVEN_UP
  })
}

/** Those a reading is taken up by go first. @param check throws where no more may be done */
export async function removeAll(names: readonly string[], blob: Pick<Blob, 'delete'>, check: () => void): Promise<void> {
  const ordered = [...names].sort((a, b) => Number(isProgress(b)) - Number(isProgress(a)))
  for (let at = 0; at < ordered.length; at += AT_ONCE) {
    check()
    await Promise.all(ordered.slice(at, at + AT_ONCE).map((name) => blob.delete(name)))
  }
}
