import { knowBrowser } from '../../http/browser.ts'
import { createRequest } from '../../records/authorization-request.ts'
import { drawId } from '../../records/ids.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'

/**
 * Sends a person to sign in for a page of ours, and back to it.
 *
 * @param path where they go on, on this origin
 */
export async function signInFor(path: string, request: Request, issuer: Issuer): Promise<Response> {
  const browser = await knowBrowser(request, issuer.url, issuer.random)
  const id = drawId(issuer.random)
  await createRequest(issuer.state, {
    id,
    own: true,
    request: { client_id: '', redirect_uri: issuer.url + path, response_mode: 'query', scopes: [] },
    authTime: nowSeconds(issuer),
    browser: browser.hash,
  })
  const headers = new Headers({ location: `/login?auth=${id}` })
  if (browser.setCookie !== undefined) headers.append('set-cookie', browser.setCookie)
  return new Response(null, { status: 303, headers })
}
