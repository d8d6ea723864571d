import { convert, type Family, isExact, leaseModule, type Module, type Rule, rules } from './layout5-rules.ts'

/** The keys of one kind: a sort key prefix, or null for the whole partition. Kinds merge families: filter on the logical key. */
export interface PrefixQuery {
  module: Module | null
  pk: string
  skPrefix: string | null
}

export type PrefixLocation = { query: PrefixQuery } | { scan: true }

/** Where the keys under a listing's prefix stand: in one kind, or anywhere (seed: storage-layout, "Listing"). */
export function locatePrefix(prefix: string): PrefixLocation {
  const family = familyOf(prefix)
  const query = family === undefined || narrower(prefix).length > 0 ? null : queryOf(family, prefix.slice(family.prefix.length))
  return query === null ? { scan: true } : { query }
}

/**
 * The one module that keys under a prefix can be of: `issuer:` is oidc, though it is several kinds. Null: keys of no module,
 * each table's own. A listing of another module's prefix is empty and asks no store.
 */
export function moduleOfPrefix(prefix: string): Module | null | 'several' {
  const located = locatePrefix(prefix)
  if ('query' in located) return located.query.module
  if (prefix === '') return 'several'

  const family = familyOf(prefix)
  const owners = new Set([...narrower(prefix), ...(family === undefined ? [] : [family])].map((rule) => rule.module))
  const [owner = null] = owners
  return owners.size > 1 || owner === 'by target' ? 'several' : owner
}

/** The rule that takes a key under the prefix unless a narrower one does. */
function familyOf(prefix: string): Family | undefined {
  return rules.find((rule): rule is Family => !isExact(rule) && prefix.startsWith(rule.prefix))
}

/** The rules that take some of the keys under the prefix from its family. */
function narrower(prefix: string): Rule[] {
  const family = familyOf(prefix)
  return rules.filter((rule) => rule !== family && rule.prefix.startsWith(prefix))
}

function queryOf(family: Family, rest: string): PrefixQuery | null {
  const module = family.module === 'by target' ? leaseModuleOfPrefix(rest) : family.module
  if (module === undefined) return null

  const within = family.within ?? ''
  if (rest !== '' && !rest.startsWith(within)) return null
  const id = convert(family.form, rest.slice(within.length))
  if (id === null) return null
  return { module, pk: family.kind, skPrefix: `${family.before ?? ''}${id}` || null }
}

/** As `leaseModule`; undefined while the text that decides it is not complete. */
function leaseModuleOfPrefix(rest: string): Module | null | undefined {
  const isComplete = rest.startsWith('export:') ? rest.includes('.') : rest.includes(':')
  return isComplete ? leaseModule(rest) : undefined
}
