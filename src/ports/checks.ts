import { PortError } from './error.ts'
import { type Location, locate, type Module } from './layout5.ts'
import type { Bytes } from './platform.ts'
import { type Lifetime, permanentFamilies, STATE_VALUE_LIMIT } from './state.ts'

/**
 * What every State adapter refuses a write for before anything is sent, in this order: size, lifetime, location.
 * Ownership comes after: `checkOwner` on the location this answers.
 *
 * @throws PortError TooLarge, NoLifetime, Unsupported
 */
export function checkWrite(key: string, value: Bytes, ttl: Lifetime): Location {
  if (value.byteLength > STATE_VALUE_LIMIT) throw new PortError('TooLarge', `a value is at most ${STATE_VALUE_LIMIT} bytes`)
  if (ttl === 'permanent' && !permanentFamilies.some((family) => key.startsWith(family)))
    throw new PortError('NoLifetime', `only ${permanentFamilies.join(' ')} may be permanent`)
  if (ttl !== 'permanent' && (!Number.isSafeInteger(ttl) || ttl <= 0))
    throw new PortError('NoLifetime', 'a lifetime is a whole number of seconds above 0')
  return locate(key)
}

/**
 * A module writes and deletes its own records, and those of no module, which are its table's. The maintenance flag is only
 * read by modules: `restore` is the one role that writes it (seed: keys, `rec.maintenance`).
 *
 * @throws PortError NotOwner
 */
export function checkOwner(location: Pick<Location, 'module' | 'writer'>, module: Module, { restore = false } = {}): void {
  if (location.module !== null && location.module !== module)
    throw new PortError('NotOwner', `module ${module} does not write records of module ${location.module}`)
  if (location.writer === 'restore' && !restore) throw new PortError('NotOwner', 'only the restore role writes the maintenance flag')
}
