import { PortError } from './error.ts'
import { convert, type Family, growsWithUse, isExact, leaseModule, type Module, type Rule, ruleOf, setRules } from './layout5-rules.ts'

export { objectName, shardOf, shardOfSegment, shardsOf, tableName } from './layout5-objects.ts'
export { locatePrefix, moduleOfPrefix, type PrefixLocation, type PrefixQuery } from './layout5-prefixes.ts'
export { type Module, modules } from './layout5-rules.ts'
export { isInstanceName, secretPath } from './layout5-secrets.ts'

const encoder = new TextEncoder()

/** bytes: what a DynamoDB sort key may have */
const SORT_KEY_LIMIT = 1_024

/** Where a record stands in storage layout v5, and what its kind allows. */
export interface Location {
  /** The owner; null: of no module, so in the table of whichever module asks. */
  module: Module | null
  /** The record's kind, which is its partition key. */
  kind: string
  pk: string
  sk: string
  /** As many as people or sessions, so spread over shards. */
  grows: boolean
  /** Whether a backup takes it. */
  backup: boolean
  /** `restore`: modules only read it. */
  writer: 'owner' | 'restore'
}

/**
 * Where a logical key stands (seed: storage-layout).
 *
 * @throws PortError Unsupported: the key has no place, or a sort key over 1,024 bytes. The message names no key: keys hold people
 */
export function locate(key: string): Location {
  if (key === '') throw unsupported('an empty key names no record')
  if (key.startsWith('.')) throw unsupported('a key that starts with a dot has an empty first segment')
  if (!key.isWellFormed()) throw unsupported('a key with half a surrogate pair has no UTF-8 spelling')

  const rule = ruleOf(key)
  if (rule === undefined) return place({ module: null, kind: 'other', sk: key, backup: false })

  const rest = key.slice(rule.prefix.length)
  const module = rule.module === 'by target' ? leaseModule(rest) : rule.module
  const backup = rule.backup !== false && module !== null && module !== 'backup'
  return place({ module, kind: rule.kind, sk: isExact(rule) ? rule.exact : idOf(rule, rest), backup, writer: rule.writer })
}

/** As `locate`, but null for a key that maps nowhere: reads find nothing there, and a delete has nothing to do. */
export function locateOrNull(key: string): Location | null {
  try {
    return locate(key)
  } catch (error) {
    if (error instanceof PortError && error.code === 'Unsupported') return null
    throw error
  }
}

/**
 * Where a member of an Index set stands: sk is `<set id>/<member>`.
 *
 * @throws PortError Unsupported: an empty set or member name, or a sort key over 1,024 bytes
 */
export function locateSet(set: string, member: string): Location {
  if (set === '' || member === '') throw unsupported('a set and its members have names')
  if (!set.isWellFormed() || !member.isWellFormed()) throw unsupported('a name with half a surrogate pair has no UTF-8 spelling')
  const { module, kind, id } = setOf(set)
  return place({ module, kind, sk: `${id}/${member}`, backup: module !== null })
}

/** Where every member of a set stands; null for the empty name, which no set has. */
export function locateMembers(set: string): { module: Module | null; pk: string; skPrefix: string } | null {
  if (set === '') return null
  const { module, kind, id } = setOf(set)
  return { module, pk: kind, skPrefix: `${id}/` }
}

/** The member's name in a sort key: all that follows the first slash, for a set's id holds none. */
export function memberOf(sk: string): string {
  return sk.slice(sk.indexOf('/') + 1)
}

function idOf(rule: Family, rest: string): string {
  const within = rule.within ?? ''
  if (!rest.startsWith(within)) throw unsupported(`nothing but ${rule.prefix}${within} has a module under ${rule.prefix}`)
  const name = rest.slice(within.length)
  if (name === '') throw unsupported(`${rule.prefix}${within} is a prefix: it names no record`)
  if (rule.refuses?.test(name)) throw unsupported(`an id under ${rule.prefix} may not be one of another rule's`)
  const id = convert(rule.form, name)
  if (id === null) throw unsupported(`a key under ${rule.prefix} holds no slash`)
  return `${rule.before ?? ''}${id}`
}

function setOf(set: string): { module: Module | null; kind: string; id: string } {
  for (const rule of setRules) {
    if (rule.exact !== undefined && set === rule.prefix) return { module: 'oidc', kind: rule.kind, id: rule.exact }
    const isMember = rule.exact === undefined && set.startsWith(rule.prefix) && set !== rule.prefix
    if (isMember) return { module: 'oidc', kind: rule.kind, id: escapeSetId(set.slice(rule.prefix.length)) }
  }
  return { module: null, kind: 'index', id: escapeSetId(set) }
}

function escapeSetId(name: string): string {
  return name.replaceAll('~', '~7E').replaceAll('/', '~2F')
}

interface Place {
  module: Module | null
  kind: string
  sk: string
  backup: boolean
  writer?: Rule['writer']
}

function place({ module, kind, sk, backup, writer }: Place): Location {
  if (isOverLimit(sk)) throw unsupported(`the sort key has over ${SORT_KEY_LIMIT} bytes`)
  return { module, kind, pk: kind, sk, grows: growsWithUse(kind), backup, writer: writer ?? 'owner' }
}

/** A UTF-16 unit is three bytes of UTF-8 at most: a short key need not be encoded to be known as one. */
function isOverLimit(sk: string): boolean {
  return 3 * sk.length > SORT_KEY_LIMIT && encoder.encode(sk).length > SORT_KEY_LIMIT
}

function unsupported(message: string): PortError {
  return new PortError('Unsupported', message)
}
