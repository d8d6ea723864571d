import { pageResponse } from '../http/page.tsx'
import { signedOutPage } from '../pages/signed-out.tsx'
import type { SignOutParts } from './sign-out.ts'

/** Where people land who are sent nowhere else. */
export const SIGNED_OUT = '/signed-out'

export interface Landing {
  /** Addresses of clients that are told in the browser. */
  frames?: readonly string[]
  /** The client that asked, and the registered address it wants the person back at. */
  returnTo?: { readonly url: string; readonly client: string } | undefined
  headers: Readonly<Record<string, string>>
}

/**
 * Where a person goes who is signed out: back to the client that asked, else to the signed-out page. Clients that are told in the browser are
 * told on that page first, and it then goes on to where they were to be sent (OpenID Connect Front-Channel Logout 1.0 section 3).
 */
export async function land(
  { frames = [], returnTo, headers }: Landing,
  { url, site }: Pick<SignOutParts, 'url' | 'site'>,
): Promise<Response> {
  if (frames.length > 0) return pageResponse(signedOutPage({ frames, returnTo }), { site, headers })
  return seeOther(returnTo?.url ?? url + SIGNED_OUT, headers)
}

export function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store', ...headers } })
}
