import { compareUtf8 } from '../crypto/bytes.ts'

/** What a key's place in its ring rests on; times in unix seconds. */
export interface Scheduled {
  id: string
  seenAt: number
  activateAt: number
}

export interface Place<Key> {
  key: Key
  /** It may sign: its activation has come. */
  activated: boolean
  /** unix second after which the key set no longer holds it; null for a key without a successor, which never retires. */
  retiresAfter: number | null
}

export interface Schedule<Key> {
  /** Every key, published or not; newest first. */
  all: Place<Key>[]
  /** Every key the key set holds, those that wait for their activation too; newest first. */
  published: Place<Key>[]
  /** The key that signs: of the activated ones the latest. Null before the first activation. */
  active: Key | null
}

/**
 * Where each key of ONE ring stands at `now`: published before it signs, and after its successor took over for as long as a token it
 * signed may live (`overlap`, seconds). A pure function of what the records say and the clock, so that every isolate comes to the same.
 */
export function schedule<Key extends Scheduled>(keys: readonly Key[], now: number, overlap: number): Schedule<Key> {
  // Two keys activated in one second: the kid decides, on every isolate alike.
  const newestFirst = [...keys].sort((a, b) => b.activateAt - a.activateAt || compareUtf8(a.id, b.id))
  const places = newestFirst.map((key, at): Place<Key> => {
    const successor = newestFirst[at - 1]
    return { key, activated: isActivated(key, now), retiresAfter: successor === undefined ? null : successor.activateAt + overlap }
  })
  return {
    all: places,
    published: places.filter(({ retiresAfter }) => retiresAfter === null || now <= retiresAfter),
    active: places.find(({ activated }) => activated)?.key ?? null,
  }
}

/** A key that signed from the moment it was recorded, because its ring had no other: nobody could have fetched it before. */
export function isImmediate(key: Scheduled): boolean {
  return key.activateAt <= key.seenAt
}

/** An immediate key is activated by being there: a clock a second behind its maker's must not leave a ring without a signer. */
function isActivated(key: Scheduled, now: number): boolean {
  return isImmediate(key) || key.activateAt <= now
}
