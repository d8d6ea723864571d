import * as z from 'zod'
import { covers, type Grant, grantOf, isWildcard } from './group-names.ts'
import { text } from './values.ts'

const segment = z
  .string()
  .max(100, 'is longer than 100 characters')
  .regex(/^[A-Za-z0-9._/-]+$/, 'is not a part of a group name: letters, digits, . _ - /')

/** `admin: [user]` for short, or what it implies and where it is, which is wherever its thing is when nothing is said. */
const role = z.preprocess(
  (value) => (Array.isArray(value) ? { implies: value } : value),
  z.strictObject({ description: text(200).optional(), implies: z.array(z.string()).default([]), scopes: z.array(z.string()).optional() }),
)

const thing = z.strictObject({
  description: text(200).optional(),
  scopes: z.array(z.string()),
  roles: z.record(segment, role),
})

/** Which scopes, things and roles there are. A policy that has one names no group that does not fit it. */
export const vocabularySchema = z.strictObject({
  /** A sensitive scope is reached by no wildcard. */
  scopes: z.record(segment, z.strictObject({ description: text(200).optional(), sensitive: z.boolean().default(false) })),
  things: z.record(segment, thing),
})

export type Vocabulary = z.output<typeof vocabularySchema>
export type Thing = Vocabulary['things'][string]
export type Role = Thing['roles'][string]

/** The scopes a role is in. */
export function scopesOf(thing: Thing, role: Role): readonly string[] {
  return role.scopes ?? thing.scopes
}

/** Every name the vocabulary has for a group. */
export function grants({ things }: Vocabulary): Grant[] {
  return Object.entries(things).flatMap(([thing, row]) =>
    Object.entries(row.roles).flatMap(([role, said]) => scopesOf(row, said).map((scope) => ({ scope, thing, role }))),
  )
}

/** The groups a row is for: the one of its name, or all that a wildcard stands for. None of a wildcard is in a sensitive scope. */
export function reach(name: string, vocabulary: Vocabulary | undefined): string[] {
  if (!isWildcard(name)) return [name]
  if (vocabulary === undefined) return []
  return grants(vocabulary)
    .filter(({ scope }) => vocabulary.scopes[scope]?.sensitive === false)
    .map(nameOf)
    .filter((grant) => covers(name, grant))
}

/** The groups held along with this one, sorted: those of the roles that its role implies, and that those imply, in the same scope. */
export function implied(name: string, vocabulary: Vocabulary | undefined): string[] {
  const grant = grantOf(name)
  if (grant === null || vocabulary === undefined || !Object.hasOwn(vocabulary.things, grant.thing)) return []
  const roles = vocabulary.things[grant.thing]?.roles ?? {}
  const found = new Set<string>()
  const left = [grant.role]
  for (let role = left.pop(); role !== undefined; role = left.pop()) {
    const next = Object.hasOwn(roles, role) ? (roles[role]?.implies ?? []) : []
    for (const one of next) if (one !== grant.role && !found.has(one)) left.push(one)
    for (const one of next) if (one !== grant.role) found.add(one)
  }
  return [...found].map((one) => nameOf({ ...grant, role: one })).sort()
}

function nameOf({ scope, thing, role }: Grant): string {
  return `${scope}:${thing}:${role}`
}
