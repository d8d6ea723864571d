import type { Service } from '../config/service.ts'
import { isLoopbackHost } from '../config/values.ts'
import { pageResponse } from '../http/page.tsx'
import { notFound } from '../http/refusal.ts'
import { demoPage } from '../pages/demo.tsx'
import { startPage as page } from '../pages/start.tsx'
import type { Issuer } from './issuer.ts'

/** `/`: what is running, for the developer who started it. On a loopback issuer only. */
export function startPage(issuer: Issuer, { service, version }: { service: Service; version: string }): Promise<Response> {
  onLoopback(issuer)
  const people = service.signin.picker ? service.directory.people : []
  return pageResponse(
    page({
      version,
      instance: service.instance,
      issuer: issuer.url,
      people: people.map(({ email, given_name, family_name, groups }) => ({
        email,
        groups,
        name: [given_name, family_name].filter(Boolean).join(' '),
      })),
      clients: Object.entries(issuer.policy.clients).map(([id, { kind, display_name }]) => ({ id, kind, name: display_name ?? id })),
      documents: ['config/service.yaml', 'config/policy.yaml', 'docs/clients.md', 'docs/operate.md', 'docs/design.md'],
    }),
    { site: issuer.site },
  )
}

/** `/demo`: a client in a page, where the demo client's redirect lands. On a loopback issuer only. */
export function demoClient(issuer: Issuer): Promise<Response> {
  onLoopback(issuer)
  return pageResponse(demoPage(), { site: issuer.site })
}

function onLoopback(issuer: Issuer): void {
  if (!isLoopbackHost(new URL(issuer.url).hostname)) throw notFound()
}
