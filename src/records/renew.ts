import { isPortError, PortError } from '../ports/error.ts'
import type { State } from '../ports/state.ts'

/**
 * Gives the live records under a prefix their whole lifetime again when they have less than `under` left (both in seconds). Two that do so at
 * once do it once.
 *
 * @throws PortError Unavailable
 */
export async function renewRecords(state: State, prefix: string, { lifetime, under }: { lifetime: number; under: number }): Promise<void> {
  if (state.export === undefined) throw new PortError('Unsupported', 'this State does not say how long its records have left')
  for await (const { key, value, ttl, rev } of state.export(prefix)) {
    if (ttl === 'permanent' || ttl >= under) continue
    try {
      await state.update(key, value, lifetime, rev)
    } catch (error) {
      if (!isPortError(error, 'Conflict', 'NotFound')) throw error
    }
  }
}
