import type { Client, Resource } from '../../config/policy.ts'
import type { SigningAlg } from '../../config/values.ts'
import { encodeBase64url } from '../../crypto/base64url.ts'
import { utf8 } from '../../crypto/bytes.ts'
import type { Audience } from '../../policy/admission.ts'
import { accessTokenEnd, idTokenEnd } from '../../policy/lifetimes.ts'
import { scopedGroups } from '../../policy/scoped-groups.ts'
import type { AskedClaims } from '../../records/claims.ts'
import type { Token } from '../../records/token.ts'
import { assertedClaims } from '../claims.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'

/** Everything the tokens of a session say. */
export interface Grant {
  audience: Audience
  /** The person, which is `sub`. */
  identity: string
  given_name?: string | undefined
  family_name?: string | undefined
  /** The groups of the policy held now. */
  groups: readonly string[]
  scopes: readonly string[]
  claims?: AskedClaims | undefined
  nonce?: string | undefined
  acr?: string | undefined
  amr?: readonly string[] | undefined
  /** unix seconds */
  authTime: number
  sid: string
  jti: string
}

export interface Minted {
  accessToken: string
  idToken?: string
  /** The access token's record; not yet written. */
  token: Token
}

/**
 * Signs the tokens of a session: an access token as RFC 9068 has it and, with scope `openid`, an ID token (OpenID Connect Core section 2).
 * Writes nothing.
 */
export async function mint(grant: Grant, issuer: Issuer): Promise<Minted> {
  const { audience, scopes, claims } = grant
  const now = nowSeconds(issuer)
  const row = audience.resource ?? audience.client
  const groups = namedGroups(row, grant, issuer)
  const expires = accessTokenEnd(issuer.policy, audience, grant.groups, { now, authTime: grant.authTime })
  const aud = audience.resourceId ?? audience.clientId
  const proved = { auth_time: grant.authTime, acr: grant.acr, amr: grant.amr }
  const standing = { iss: issuer.url, sub: grant.identity, iat: now, sid: grant.sid }

  const accessToken = await issuer.keyring.sign(algOf(row, issuer), 'at+jwt', {
    ...standing,
    ...proved,
    aud,
    exp: expires,
    jti: grant.jti,
    client_id: audience.clientId,
    scope: scopes.join(' '),
    groups,
  })
  const token: Token = {
    id: grant.jti,
    subject: grant.identity,
    clientID: audience.clientId,
    audience: [aud],
    scopes: [...scopes],
    claims: { groups },
    asked: claims?.userinfo,
    expires,
    givenName: grant.given_name,
    familyName: grant.family_name,
    session: grant.sid,
  }
  if (!scopes.includes('openid')) return { accessToken, token }

  const alg = algOf(audience.client, issuer)
  const idToken = await issuer.keyring.sign(alg, 'JWT', {
    ...standing,
    ...proved,
    aud: audience.clientId,
    exp: idTokenEnd(issuer.policy, audience, grant.groups, { now, authTime: grant.authTime }),
    nonce: grant.nonce,
    at_hash: await accessTokenHash(alg, accessToken),
    ...assertedClaims(
      { ...grant, groups: row === audience.client ? groups : namedGroups(audience.client, grant, issuer) },
      scopes,
      claims?.id_token,
    ),
  })
  return { accessToken, idToken, token }
}

/** What a token for this client or resource names. Counted is what scoping would take away, and said of nobody. */
function namedGroups(row: Client | Resource, { audience, groups: held }: Grant, issuer: Issuer): string[] {
  const { groups, unscoped } = scopedGroups(issuer.policy, row, held)
  if (unscoped > 0) {
    const target = row === audience.resource ? audience.resourceId : audience.clientId
    issuer.log.info('groups.unscoped', { client: audience.clientId, target, count: unscoped })
  }
  return groups
}

/** The audience decides the algorithm: what it pins, else the default ring. */
function algOf(row: { signing_alg?: SigningAlg | undefined }, issuer: Issuer): SigningAlg {
  return row.signing_alg ?? issuer.keyring.defaultAlg
}

const hashOf: Record<SigningAlg, string> = { ES256: 'SHA-256', RS256: 'SHA-256', ES384: 'SHA-384', EdDSA: 'SHA-512' }

/** OpenID Connect Core section 3.1.3.6: the left half of the hash that belongs to the ID token's own algorithm. */
async function accessTokenHash(alg: SigningAlg, accessToken: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest(hashOf[alg], utf8(accessToken)))
  return encodeBase64url(digest.slice(0, digest.length / 2))
}
