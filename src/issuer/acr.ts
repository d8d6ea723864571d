/** The person was proved by the company directory's own means. */
export const DIRECTORY_ACR = 'urn:sluis:acr:directory'

/** What a sign-in here can reach (OpenID Connect Core section 2). Discovery lists them. */
export const acrValues = [DIRECTORY_ACR] as const
