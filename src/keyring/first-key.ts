import type { Audit } from '../audit/audit.ts'
import type { SigningAlg } from '../config/values.ts'
import { isPortError, PortError } from '../ports/error.ts'
import type { Clock } from '../ports/platform.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { Rev, State } from '../ports/state.ts'
import { createSigningKey, findSigningKey, listRetiredKids, type SigningKey } from '../records/signing-key.ts'
import type { Log } from '../telemetry/log.ts'
import type { KeyPair } from './key-pair.ts'
import { openSigningKey, sealSigningKey } from './sealed-key.ts'
import { emptyRingKid } from './slot.ts'

export interface KeyMaking {
  state: State
  sealer: Sealer
  clock: Clock
  instance: string
  /** seconds */
  rotateEvery: number
  generate(alg: SigningAlg): Promise<KeyPair>
  audit: Pick<Audit, 'record'>
  log: Log
}

/** A record and the revision it was written or read at. */
export interface Kept {
  record: SigningKey
  rev: Rev
}

/**
 * The key of a ring that has none: made here, or by whoever was first. Its kid names a slot, so of all who find the ring empty one
 * creates the record and the others read it. It signs at once: there is no other that could meanwhile.
 *
 * @throws PortError Unavailable: the store or the sealer fails, or a record nobody can read stands in the slot
 */
export async function firstKey(alg: SigningAlg, making: KeyMaking): Promise<Kept> {
  const { state, clock, audit, log } = making
  const kid = await emptyRingKid({ ...making, alg }, await listRetiredKids(state, alg), seconds(clock))
  const now = seconds(clock)
  const record = await makeKey(alg, { kid, seenAt: now, activateAt: now }, making)
  try {
    const rev = await createSigningKey(state, record)
    log.info('keyring.first_key', { alg, kid })
    audit.record({ event: 'key.made', alg, kid, by: 'system' })
    return { record, rev }
  } catch (error) {
    if (!isPortError(error, 'Exists')) throw error
    return winnersKey(alg, kid, making)
  }
}

/** A key and its record, not kept yet. Times in unix seconds. @throws PortError Unavailable */
export async function makeKey(
  alg: SigningAlg,
  named: { kid: string; seenAt: number; activateAt: number },
  making: KeyMaking,
): Promise<SigningKey> {
  const pair = await making.generate(alg)
  const record = await sealSigningKey(pair, { alg, ...named }, making)
  // Before anybody relies on it: a Worker that can seal and not open would leave a ring that never signs.
  const opened = await openSigningKey(record, making.sealer)
  if ('refused' in opened) throw new PortError('Unavailable', `the new ${alg} key was not kept: ${opened.refused}`)
  return record
}

async function winnersKey(alg: SigningAlg, kid: string, { state, log }: KeyMaking): Promise<Kept> {
  const found = await findSigningKey(state, alg, kid, log)
  if (found !== null) return { record: found.value, rev: found.entry.rev }
  // Replacing it could orphan tokens that its key signed: that is an operator's decision.
  throw new PortError('Unavailable', `the record of signing key ${alg} ${kid} can't be read, and no other is made in its place`)
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1_000)
}
