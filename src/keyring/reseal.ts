import type { VerifiableAlg } from '../config/public-key.ts'
import { decodeBase64 } from '../crypto/base64url.ts'
import { isPortError } from '../ports/error.ts'
import { isCurrentSeal, type Sealer } from '../ports/sealer.ts'
import type { State } from '../ports/state.ts'
import type { Found } from '../records/record.ts'
import { listSigningKeys, rereadSigningKey, type SigningKey, updateSigningKey } from '../records/signing-key.ts'
import type { Log } from '../telemetry/log.ts'
import { sealContext, sealPrivateHalf, unseal } from './sealed-key.ts'

export interface Resealing {
  state: State
  sealer: Sealer
  instance: string
  log: Log
}

export interface KeyName {
  alg: VerifiableAlg
  kid: string
}

export interface HowToReseal {
  /** Those keys too whose seal doesn't say what made it. */
  all: boolean
  /** Told of each key when it has been. */
  resealed(key: KeyName): void
}

/** What re-sealing the signing keys came to. */
export interface KeysResealed {
  resealed: number
  /** Still as they were though they open: something else kept writing their records. */
  left: number
  /** Their seals don't say what made them, and all were not asked for. */
  untold: number
  /** Left as they are, for ever. */
  unopenable: KeyName[]
}

/** Of somebody who writes the same record, such as the tick that renews it: more than that is no accident. */
const ATTEMPTS = 3

/**
 * Seals the private half of each signing key anew that an earlier key of the sealer, or another context, sealed; with `all` those too that do
 * not say. A key at a time, at the revision read: stopped anywhere, each record opens under what it says, and the next run does the rest. A
 * key that does not open is left as it is, and stops none of the others.
 *
 * @throws PortError Unavailable: the store or the sealer
 */
export async function resealSigningKeys(parts: Resealing, { all, resealed }: HowToReseal): Promise<KeysResealed> {
  const report: KeysResealed = { resealed: 0, left: 0, untold: 0, unopenable: [] }
  for (const found of await listSigningKeys(parts.state, parts.log)) {
    const outcome = await resealOne(found, all, parts)
    const { alg, id: kid } = found.value
    if (outcome === 'unopenable') report.unopenable.push({ alg, kid })
    else if (outcome !== 'current') report[outcome]++
    if (outcome === 'resealed') resealed({ alg, kid })
  }
  return report
}

type Outcome = 'current' | 'resealed' | 'left' | 'untold' | 'unopenable'

async function resealOne(first: Found<SigningKey>, all: boolean, parts: Resealing): Promise<Outcome> {
  let found: Found<SigningKey> | null = first
  for (let attempt = 0; attempt < ATTEMPTS && found !== null; attempt++) {
    const { value: record, entry } = found
    const place = await sealPlace(record, parts)
    if (place === 'current' || (place === 'untold' && !all)) return place
    const unsealed = await unseal(record, parts.sealer)
    if ('refused' in unsealed) return 'unopenable'
    const anew = { ...record, ...(await sealPrivateHalf(unsealed.pkcs8, parts)) }
    // As when a key is made: what can seal and not open must not be what is left of a key.
    if ('refused' in (await unseal(anew, parts.sealer))) return 'unopenable'
    try {
      await updateSigningKey(parts.state, { value: anew, entry })
      return 'resealed'
    } catch (error) {
      if (!isPortError(error, 'Conflict', 'NotFound')) throw error
      found = await rereadSigningKey(parts.state, entry.key, parts.log)
    }
  }
  return found === null ? 'current' : 'left' // retired meanwhile: nothing is left of its seal
}

/** Whether a record's seal is of the key and the context of now; `untold`: its bytes don't say. A record without a seal has nothing to do. */
async function sealPlace(
  record: SigningKey,
  { sealer, instance }: Pick<Resealing, 'sealer' | 'instance'>,
): Promise<'current' | 'stale' | 'untold'> {
  if (record.wrapped === undefined) return 'current'
  const sealed = decodeBase64(record.wrapped)
  if (sealed === null) return 'stale'
  const ours = sealContext({ instance })
  const stated = record.context ?? {}
  const names = Object.keys(ours)
  const isOurs = Object.keys(stated).length === names.length && names.every((name) => stated[name] === ours[name])
  if (!isOurs) return 'stale'
  const isCurrent = await isCurrentSeal(sealed, sealer)
  if (isCurrent === undefined) return 'untold'
  return isCurrent ? 'current' : 'stale'
}

/** Whether an earlier key of the sealer sealed it, as far as its bytes say. */
export async function isSealStale(record: SigningKey, sealer: Sealer): Promise<boolean> {
  const sealed = record.wrapped === undefined ? null : decodeBase64(record.wrapped)
  return sealed !== null && (await isCurrentSeal(sealed, sealer)) === false
}
