import { PortError } from '../../ports/error.ts'
import { type Module, modules, tableName } from '../../ports/layout5.ts'

/** Names of tables that are not `sluis-<instance>-<module>`, by module. */
export type TableNames = Partial<Record<Module, string>>

/**
 * The table of each module.
 *
 * @throws PortError Unsupported: a module there is none of, a name DynamoDB has no table of, one table for two modules
 */
export function moduleTables(instance: string, named: TableNames = {}): Record<Module, string> {
  const stranger = Object.keys(named).find((module) => !modules.some((known) => known === module))
  if (stranger !== undefined) throw new PortError('Unsupported', `there is no module ${stranger} to name a table of`)

  const tables = Object.fromEntries(modules.map((module) => [module, named[module] ?? tableName(instance, module)])) as Record<
    Module,
    string
  >
  const names = new Map<string, Module>()
  for (const module of modules) {
    const name = tables[module]
    // What DynamoDB lets a table be called.
    if (!/^[A-Za-z0-9_.-]{3,255}$/.test(name)) throw new PortError('Unsupported', `"${name}" is no name of a table (module ${module})`)
    const other = names.get(name)
    if (other !== undefined) throw new PortError('Unsupported', `modules ${other} and ${module} may not share table ${name}`)
    names.set(name, module)
  }
  return tables
}
