import { declared, type Policy } from '../config/policy.ts'
import type { Audience } from './admission.ts'

/**
 * unix second after which nothing that rests on this sign-in is accepted for this audience. A resource may shorten it, and one whose tokens
 * can change nothing may stretch it.
 */
export function absoluteEnd(policy: Policy, { resource }: Audience, authTime: number): number {
  const { absolute } = policy.lifetimes
  const cap = resource?.absolute_cap ?? absolute
  return authTime + (resource?.read_only === true ? cap : Math.min(absolute, cap))
}

/**
 * unix second at which an access token issued now expires: the shortest of the lifetimes of the groups held (the default where none has one),
 * the client's cap and the resource's, and never past the absolute limit.
 */
export function accessTokenEnd(policy: Policy, audience: Audience, held: readonly string[], at: { now: number; authTime: number }): number {
  return Math.min(
    at.now + Math.min(ofGroups(policy, held), cap(audience.client), cap(audience.resource)),
    absoluteEnd(policy, audience, at.authTime),
  )
}

/** unix second at which an ID token issued now expires: the same without the resource, which never sees it. */
export function idTokenEnd(policy: Policy, audience: Audience, held: readonly string[], at: { now: number; authTime: number }): number {
  return Math.min(at.now + Math.min(ofGroups(policy, held), cap(audience.client)), absoluteEnd(policy, audience, at.authTime))
}

/** seconds: no token of this policy lives longer. */
export function longestToken(policy: Policy): number {
  return Math.max(policy.lifetimes.token, ...Object.values(policy.groups).map((group) => group.lifetime ?? 0))
}

function ofGroups(policy: Policy, held: readonly string[]): number {
  const lifetimes = held.flatMap((name) => declared(policy.groups, name)?.lifetime ?? [])
  return lifetimes.length === 0 ? policy.lifetimes.token : Math.min(...lifetimes)
}

function cap(row: { ttl_cap?: number | undefined } | undefined): number {
  return row?.ttl_cap ?? Number.POSITIVE_INFINITY
}
