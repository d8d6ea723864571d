/** Nobody listens there: codes are taken from the redirect itself. */
export const REDIRECT_URI = 'http://127.0.0.1:9/callback'

/** The one client of each server that lets its clients' names be chosen. */
export const CLIENT = 'bench'

/** What every session of the bench is opened with: an ID token at each refresh, and a refresh token. */
export const SCOPE = 'openid offline_access'

/** The query of an authorization request (RFC 6749 section 4.1.1, RFC 7636 section 4.3). */
export function authorizationQuery(clientId: string, challenge: string, more: Record<string, string> = {}): URLSearchParams {
  return new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: 'bench',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  })
}

/** The code a response sends the client. @throws Error with the answer, when there is none */
export async function codeOf(response: Response): Promise<string> {
  const location = response.headers.get('location')
  const code = location === null ? null : new URL(location, response.url).searchParams.get('code')
  if (code === null) throw new Error(`no code: ${response.status} ${location ?? (await response.text()).slice(0, 300)}`)
  await response.body?.cancel()
  return code
}
