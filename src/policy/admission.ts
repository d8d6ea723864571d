import { type Client, declared, type Policy, type Resource } from '../config/policy.ts'

/** Who is asking, for what: the client, and the resource when one was named (RFC 8707). */
export interface Audience {
  clientId: string
  client: Client
  resourceId?: string | undefined
  resource?: Resource | undefined
}

/** The audience of a recorded grant under the policy as it stands now, or null when the client or the resource is gone. */
export function audienceOf(policy: Policy, clientId: string, resourceId: string | undefined): Audience | null {
  const client = declared(policy.clients, clientId)
  if (client === undefined) return null
  if (resourceId === undefined) return { clientId, client }
  const resource = declared(policy.resources, resourceId)
  return resource === undefined ? null : { clientId, client, resourceId, resource }
}

/** Whether the groups held open both gates: one group of the client's `requires` and, with a resource, one of the resource's. */
export function admits(audience: Audience, held: readonly string[]): boolean {
  return anyHeld(audience.client.requires, held) && (audience.resource === undefined || anyHeld(audience.resource.requires, held))
}

function anyHeld(requires: readonly string[], held: readonly string[]): boolean {
  return requires.some((name) => held.includes(name))
}
