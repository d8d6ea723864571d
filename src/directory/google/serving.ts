import type { Workspace } from '../../records/workspace.ts'

/** What stands behind the last `@`; empty for no address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/** The domains of which a Workspace says who is there: those it is to serve of the ones it has verified, or all of these. */
export function servedDomains({ serve, domains }: Pick<Workspace, 'serve' | 'domains'>): string[] {
  return serve.length === 0 ? domains : serve.filter((domain) => domains.includes(domain))
}

/** Who answers for a domain. Where two Workspaces claim it nobody does: either could be the wrong one. */
export type Route = { state: 'served'; workspace: Workspace } | { state: 'contested' } | { state: 'unserved' }

export function routeOf(domain: string, workspaces: readonly Workspace[]): Route {
  const [workspace, another] = workspaces.filter((one) => servedDomains(one).includes(domain))
  if (workspace === undefined) return { state: 'unserved' }
  return another === undefined ? { state: 'served', workspace } : { state: 'contested' }
}
