import { knowBrowser } from '../../http/browser.ts'
import { type AuthorizationRequest, createRequest } from '../../records/authorization-request.ts'
import { drawId } from '../../records/ids.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'

/** Writes a request down, bound to this browser, and sends the person to sign in for it. */
export async function sendToSignIn(
  request: Request,
  asked: Pick<AuthorizationRequest, 'request' | 'resource' | 'hint_subject' | 'own'>,
  issuer: Issuer,
): Promise<Response> {
  const browser = await knowBrowser(request, issuer.url, issuer.random)
  const { request: fields, resource, hint_subject, own } = asked
  const id = drawId(issuer.random)
  const value = { id, request: fields, authTime: nowSeconds(issuer), browser: browser.hash, resource, hint_subject, own }
  await createRequest(issuer.state, value)
  const headers = new Headers({ location: `/login?auth=${id}` })
  if (browser.setCookie !== undefined) headers.append('set-cookie', browser.setCookie)
  return new Response(null, { status: 303, headers })
}

/**
 * Sends a person to sign in for a page of ours, and back to it.
 *
 * @param path where they go on, on this origin
 * @param within seconds since they were proved, where the page asks for a fresh proof
 */
export function signInFor(path: string, request: Request, issuer: Issuer, within?: number): Promise<Response> {
  const fields = { client_id: '', redirect_uri: issuer.url + path, response_mode: 'query' as const, scopes: [], max_age: within }
  return sendToSignIn(request, { own: true, request: fields }, issuer)
}
