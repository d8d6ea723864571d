import { encodeBase64url } from '../../crypto/base64url.ts'
import { labelledDigestHex, type Sha256Hex } from '../../crypto/digest.ts'
import { endSessions } from '../../logout/endings.ts'
import { isPortError } from '../../ports/error.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import { drawIdNear, placeOf } from '../../records/ids.ts'
import type { Found } from '../../records/record.ts'
import { createSignIn, findSignIn, findSignInByCookie, renewSignIn, type SignIn } from '../../records/sign-in.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'

/** What a way of signing in has proved. Every one of them ends in `completeSignIn`. */
export interface Proof {
  person: PersonId
  /** The way's own name: `picker`, ... */
  method: string
  acr: string
  /** Authentication methods (RFC 8176); absent where the way proves nothing of the kind. */
  amr?: string[]
  /** unix seconds */
  authTime: number
}

/** The browser's sign-in, with the cookie that now stands for it and the seconds it does. */
export interface Begun {
  id: string
  cookie: string
  maxAge: number
}

/**
 * Begins this browser's sign-in (SSO). The same person in the same browser keeps theirs, so that the sessions under it stay within its
 * reach; another person's ends here.
 *
 * @param clients the client it lets in; none when that one does not admit the person, or a page of ours asks
 * @param standingCookie the value of the SSO cookie the browser came with
 */
export async function beginSignIn(
  proof: Proof,
  clients: readonly string[],
  standingCookie: string | undefined,
  issuer: Issuer,
): Promise<Begun> {
  const cookie = encodeBase64url(issuer.random.bytes(32))
  const fresh = newSignIn(proof, clients, await cookieHash(cookie), issuer)
  const maxAge = fresh.expires_at - nowSeconds(issuer)

  const standing =
    standingCookie === undefined ? null : await findSignInByCookie(issuer.state, await cookieHash(standingCookie), issuer.log)
  const renewed = standing?.value.identity === proof.person ? await renew(standing, fresh, maxAge, issuer) : null
  if (renewed !== null) return { id: renewed.id, cookie, maxAge }

  if (standing !== null && standing.value.identity !== proof.person) await endAnothers(standing.value, proof, issuer)
  await createSignIn(issuer, fresh, maxAge)
  return { id: fresh.id, cookie, maxAge }
}

/** How a cookie stands in keys and records (seed: keys). */
export function cookieHash(cookie: string): Promise<Sha256Hex> {
  return labelledDigestHex('sluis issuer sso-cookie v1', cookie)
}

function newSignIn(proof: Proof, clients: readonly string[], cookie_hash: Sha256Hex, issuer: Issuer): SignIn {
  const { refresh, absolute } = issuer.policy.lifetimes
  return {
    id: drawIdNear(issuer.random, placeOf(proof.person)),
    identity: proof.person,
    how: proof.method,
    acr: proof.acr,
    amr: proof.amr,
    auth_time: proof.authTime,
    expires_at: proof.authTime + absolute,
    silent_until: proof.authTime + refresh,
    clients: [...clients],
    cookie_hash,
  }
}

const TRIES = 3 // another tab lets in another client, or renews it too

/** null when it ended meanwhile. One that moved is renewed as it stands now: a second sign-in would put the first one's sessions out of reach. */
async function renew(standing: Found<SignIn>, fresh: SignIn, ttl: number, issuer: Issuer): Promise<SignIn | null> {
  let found: Found<SignIn> | null = standing
  for (let attempt = 0; attempt < TRIES && found !== null; attempt++) {
    const { id, clients, cookie_hash: previous_cookie_hash } = found.value
    const renewed = { ...found.value, ...fresh, id, previous_cookie_hash, clients: [...new Set([...clients, ...fresh.clients])] }
    try {
      await renewSignIn(issuer, found, renewed, ttl)
      return renewed
    } catch (error) {
      if (!isPortError(error, 'Conflict', 'NotFound', 'Exists')) throw error
    }
    found = await findSignIn(issuer.state, id, issuer.log)
  }
  return null
}

/** A browser is one person's at a time: everything the first one opened in it ends. */
async function endAnothers({ id, identity }: SignIn, proof: Proof, issuer: Issuer): Promise<void> {
  const which = { of: 'sign_ins' as const, ids: [id] }
  await endSessions({ person: personId(identity), which, cause: 'another_person', by: proof.person }, issuer)
}
