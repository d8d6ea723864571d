import { pageResponse } from '../../http/page.tsx'
import { formPostPage } from '../../pages/form-post.tsx'
import type { Issuer } from '../issuer.ts'
import type { ResponseMode } from './checks/response-mode.ts'

/** Where an authorization response goes, and how. */
export interface Return {
  /** What people call the client. */
  client: string
  redirectUri: string
  mode: ResponseMode
  state: string | undefined
}

/**
 * Sends the person back to the client with a code or an error, in the response mode it asked for. `iss` is on every answer (RFC 9207).
 *
 * @param headers added to the answer: the cookie of a completed sign-in
 */
export async function answerClient(
  to: Return,
  answer: Readonly<Record<string, string>>,
  issuer: Issuer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const fields = { ...answer, ...(to.state === undefined ? {} : { state: to.state }), iss: issuer.url }
  if (to.mode === 'form_post') {
    return pageResponse(formPostPage({ action: to.redirectUri, fields, client: to.client }), {
      site: issuer.site,
      formActionTo: to.redirectUri,
      headers,
    })
  }
  const location = to.redirectUri + separator(to) + new URLSearchParams(fields)
  return new Response(null, { status: 303, headers: { location, ...headers } })
}

/** The registered URI is kept byte for byte; what is added follows its query (RFC 6749 section 4.1.2), or is the fragment it can't have. */
function separator(to: Return): string {
  if (to.mode === 'fragment') return '#'
  return to.redirectUri.includes('?') ? '&' : '?'
}
