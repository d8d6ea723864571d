import { encodeBase64url } from '../../crypto/base64url.ts'
import { labelledDigestHex, type Sha256Hex } from '../../crypto/digest.ts'
import { endSessions } from '../../logout/endings.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import { drawIdNear, placeOf } from '../../records/ids.ts'
import { createSignIn, findSignInByCookie, renewSignIn, type SignIn } from '../../records/sign-in.ts'
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
  const standing =
    standingCookie === undefined ? null : await findSignInByCookie(issuer.state, await cookieHash(standingCookie), issuer.log)
  const { cookie, fresh, maxAge } = await draw(proof, clients, issuer)
  if (standing?.value.identity === proof.person) {
    const renewed = await renewSignIn(issuer, standing, fresh, maxAge, issuer.log)
    // One that ended meanwhile has left its new cookie behind: another is drawn.
    return renewed === null ? beginSignIn(proof, clients, undefined, issuer) : { id: renewed.id, cookie, maxAge }
  }
  if (standing !== null) await endAnothers(standing.value, proof, issuer)
  await createSignIn(issuer, fresh, maxAge)
  return { id: fresh.id, cookie, maxAge }
}

async function draw(proof: Proof, clients: readonly string[], issuer: Issuer): Promise<{ cookie: string; fresh: SignIn; maxAge: number }> {
  const cookie = encodeBase64url(issuer.random.bytes(32))
  const fresh = newSignIn(proof, clients, await cookieHash(cookie), issuer)
  return { cookie, fresh, maxAge: fresh.expires_at - nowSeconds(issuer) }
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

/** A browser is one person's at a time: everything the first one opened in it ends. */
async function endAnothers({ id, identity }: SignIn, proof: Proof, issuer: Issuer): Promise<void> {
  const which = { of: 'sign_ins' as const, ids: [id] }
  await endSessions({ person: personId(identity), which, cause: 'another_person', by: proof.person }, issuer)
}
