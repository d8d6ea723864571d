import { Refusal } from './refusal.ts'

/**
 * Whether a state-changing request was made by a page of the issuer. `Sec-Fetch-Site` decides where the browser sends it (no page can
 * set it); `none` is the address bar, which does not POST. A browser too old for it must name the issuer as `Origin`. Neither: no.
 */
export function isSameOrigin(request: Request, issuer: string): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  return request.headers.get('origin') === new URL(issuer).origin
}

/** @throws Refusal 403 with a page that says what to do */
export function requireSameOrigin(request: Request, issuer: string): void {
  if (isSameOrigin(request, issuer)) return
  throw new Refusal(403, {
    code: 'cross_origin_request',
    description: 'This request came from another site, or from something that does not say where it comes from.',
    title: 'That did not come from this site',
    advice:
      'Go back to the application you came from and sign in again. If it keeps happening, use a current browser, and switch off extensions that hide where requests come from.',
  })
}
