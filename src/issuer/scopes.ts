/** The scopes there are (OpenID Connect Core sections 3.1.2.1, 5.4 and 11). Others that are asked for are left out of the grant. */
export const scopes = ['openid', 'profile', 'email', 'offline_access'] as const

/** The scopes of a request that exist, each once; `openid` when none was asked for. */
export function grantedScopes(asked: string | undefined): string[] {
  if (asked === undefined) return ['openid']
  const words = new Set(asked.split(' '))
  return scopes.filter((scope) => words.has(scope))
}
