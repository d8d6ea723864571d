import { decodeBase64url, encodeBase64url } from '../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { keys, personId, unescapeSegment } from '../ports/keys.ts'

/** The id of a row for whoever works on it: its key, encoded. Opaque outside, and no secret: it says who signed in where. */
export function deliveryIdOf(key: string): string {
  return encodeBase64url(utf8(key))
}

/** The key of the row an id stands for, or null for what no row has: an id never names any other record. */
export function rowKeyOf(deliveryId: string): string | null {
  const bytes = decodeBase64url(deliveryId)
  const key = bytes === null ? null : fromUtf8(bytes)
  if (key === null) return null
  const [, person, sid, client] = key.split('.').map(unescapeSegment)
  if (!person || !sid || !client) return null
  return keys.logout(personId(person), sid, client) === key ? key : null
}
