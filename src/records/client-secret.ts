import type { Client } from '../config/policy.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { type Bytes, fromUtf8 } from '../crypto/bytes.ts'
import { equalBytes } from '../crypto/equal.ts'
import { isPortError } from '../ports/error.ts'
import { secretAddress } from '../ports/keys.ts'
import type { Random } from '../ports/platform.ts'
import type { Secret, Secrets } from '../ports/secrets.ts'
import { documents, SecretDocumentError } from './external-documents.ts'

/** ms: how long the secret before the current one is accepted where nothing else is said, so that a rotation signs no application out. */
export const DEFAULT_OVERLAP = 24 * 3_600_000

const LENGTH = 32 // bytes

/** Whether the issuer makes the client's secret. */
export function isGenerated(client: Pick<Client, 'secret'>): boolean {
  return typeof client.secret === 'object'
}

/** Where a client's secret stands; null for one that has none. */
export function clientSecretPath(id: string, { secret }: Pick<Client, 'secret'>): string | null {
  if (secret === undefined) return null
  return typeof secret === 'string' ? secret : secretAddress.generatedClient(id)
}

/** What a client may prove itself with. */
export interface AcceptedSecrets {
  current: string
  /** null when there is none, or none that can be read. */
  previous: string | null
  /** unix ms: from here on `previous` is nothing any more */
  previousUntil: number
}

/**
 * A client's secrets as they stand at its address: below `internal/` the secret itself, below `external/oidc/` an oidc/v1 document of this
 * client. Or, in words, why what stands there is none: it authenticates nobody.
 */
export function readClientSecret(id: string, path: string, kept: Secret): AcceptedSecrets | { problem: string } {
  const current = parse(id, path, kept.value)
  if ('problem' in current) return current
  const before = kept.previous === undefined ? null : parse(id, path, kept.previous)
  const previous = before === null || 'problem' in before ? null : before.secret
  return { current: current.secret, previous, previousUntil: current.previousUntil ?? kept.modified + DEFAULT_OVERLAP }
}

/**
 * A new secret, and the document that brings it to its readers.
 *
 * @param previousUntil unix ms, where it is another than a day from the write
 */
export function drawClientSecret(id: string, random: Random, previousUntil?: number): Bytes {
  return documents.oidc.encode({
    'client-id': id,
    'client-secret': encodeBase64url(random.bytes(LENGTH)),
    ...(previousUntil === undefined ? {} : { 'previous-valid-until': new Date(previousUntil).toISOString() }),
  })
}

/**
 * Makes a generated client's secret where nothing stands. Of all who do at once one makes it; what stands is left as it is, whatever it is.
 *
 * @throws PortError Unavailable
 */
export async function createClientSecret(
  id: string,
  { secrets, random }: { secrets: Secrets; random: Random },
): Promise<'made' | 'stands'> {
  try {
    await putOwn(secrets, secretAddress.generatedClient(id), drawClientSecret(id, random), null)
    return 'made'
  } catch (error) {
    if (isPortError(error, 'Conflict')) return 'stands'
    throw error
  }
}

/** A conditional write whose value nobody else can have drawn: when its answer is lost, what stands says whether it landed. */
export async function putOwn(secrets: Secrets, path: string, value: Bytes, version: string | null): Promise<void> {
  try {
    await secrets.putIfVersion(path, value, version)
  } catch (error) {
    if (!isPortError(error, 'Unavailable')) throw error
    const standing = await secrets.get(path, { maxAge: 0 }).catch(() => null)
    if (standing === null || !equalBytes(standing.value, value)) throw error
  }
}

interface Parsed {
  secret: string
  /** unix ms; null: as by default */
  previousUntil: number | null
}

function parse(id: string, path: string, value: Bytes): Parsed | { problem: string } {
  if (path.startsWith('external/')) return parseDocument(id, value)
  const secret = fromUtf8(value)
  return secret ? { secret, previousUntil: null } : { problem: 'it is empty, or no text' }
}

function parseDocument(id: string, value: Bytes): Parsed | { problem: string } {
  try {
    const document = documents.oidc.decode(value)
    if (document['client-id'] !== id) return { problem: 'its client-id is another client' }
    const until = document['previous-valid-until']
    // One that is no time ends what it was to limit.
    const previousUntil = until === undefined ? null : Date.parse(until) || 0
    return { secret: document['client-secret'], previousUntil }
  } catch (error) {
    if (error instanceof SecretDocumentError) return { problem: error.message }
    throw error
  }
}
