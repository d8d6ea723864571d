import { isPortError } from './error.ts'
import { type Location, locateOrNull, locateSet, type Module, moduleOfPrefix } from './layout5.ts'

/** Where a module's State finds a key; null when there is nothing to ask for: a key that maps nowhere, or another module's. */
export function locateReadable(key: string, module: Module): Location | null {
  const location = locateOrNull(key)
  return location === null || (location.module !== null && location.module !== module) ? null : location
}

/** Whether a module's table can hold keys under the prefix. If not, the listing is empty and no store is asked. */
export function isReadablePrefix(prefix: string, module: Module): boolean {
  // Keys are well formed, so half a surrogate pair starts none of them.
  if (!prefix.isWellFormed()) return false
  const owner = moduleOfPrefix(prefix)
  return owner === null || owner === 'several' || owner === module
}

/** As `locateSet`, but null for a set or member that maps nowhere: there is nothing to remove. */
export function locateMemberOrNull(set: string, member: string): Location | null {
  try {
    return locateSet(set, member)
  } catch (error) {
    if (isPortError(error, 'Unsupported')) return null
    throw error
  }
}
