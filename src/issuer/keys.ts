import { json } from '../http/respond.ts'
import type { Issuer } from './issuer.ts'

/** The key set (RFC 7517 section 5). How long it may be kept follows the schedule of the keys. */
export async function keys(_request: Request, issuer: Issuer): Promise<Response> {
  const { keys, maxAge } = await issuer.keyring.keySet()
  return json({ keys }, { headers: { 'cache-control': `public, max-age=${maxAge}` } })
}
