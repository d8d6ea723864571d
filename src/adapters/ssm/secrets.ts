import { isPortError, PortError } from '../../ports/error.ts'
import { isInstanceName, secretPath } from '../../ports/layout5-secrets.ts'
import type { Bytes } from '../../ports/platform.ts'
import { secretToWrite } from '../../ports/secret-path.ts'
import type { Secret, Secrets } from '../../ports/secrets.ts'
import type { JsonClient } from '../aws/aws.ts'
import { decodeDocument, encodeDocument } from './document.ts'
import { listSecrets } from './list.ts'
import { batchedReads, newestVersion, readParameter } from './reads.ts'
import { createParameter, deleteParameter, overwriteParameter } from './writes.ts'

/**
 * Does the work while nobody else does any on the same address, in whatever isolate. `stillHeld` throws once that is no longer sure, and
 * is called before each write. PortError Unavailable when the turn does not come in time.
 */
export type Exclusively = <T>(address: string, work: (stillHeld: () => void) => Promise<T>) => Promise<T>

export interface SsmSecretsOptions {
  /** Of the service `ssm`. */
  client: JsonClient
  instance: string
  /** `alias/...` of the key parameters are encrypted under; absent: the account's own for SSM. */
  keyId?: string | undefined
  /** Whoever updates or deletes one takes this turn; absent: an update over a version is Unsupported. */
  exclusively?: Exclusively | undefined
}

/**
 * Secrets as SecureString parameters of layout v5 (seed: storage-layout, SSM). A version is SSM's own number.
 *
 * SSM compares nothing when it overwrites: only creation is atomic by itself. An update over a version, a put over something that is there
 * and a deletion therefore run under `exclusively`, and hold against all who do. Who writes without (an operator, by AWS's own tools) is
 * noticed when an update finds a version it can't account for, and not before.
 *
 * @throws PortError Unsupported: no instance's name
 */
export function ssmSecrets({ client, instance, keyId, exclusively }: SsmSecretsOptions): Secrets {
  if (!isInstanceName(instance)) throw new PortError('Unsupported', 'an instance is lower-case letters, digits and dashes')
  const read = batchedReads(client)
  const root = `/sluis/${instance}/`
  const writing = { client, keyId }

  return {
    async get(path, { previous: withPrevious = false } = {}) {
      const name = secretPath(path, instance)
      const newest = await read(name)
      if (newest === null) throw absent(name)
      const { text, version, modified } = newest
      const secret: Secret = { value: decodeDocument(name, text), version: String(version), modified }
      const previous = withPrevious && version > 1 ? await secretAt(name, version - 1) : null
      if (previous !== null) secret.previous = previous
      return secret
    },

    // Most puts are of a new name, a credential's fresh ref: one call, and no turn to wait for.
    async put(path, value) {
      const { name, text } = toWrite(path, value)
      try {
        return String(await createParameter(writing, name, text))
      } catch (error) {
        if (!isPortError(error, 'Conflict')) throw error
      }
      return await inTurn(name, async (stillHeld) => {
        const before = (await newestVersion(client, name)) ?? 0
        stillHeld()
        return String(await overwriteParameter(writing, name, text, before))
      })
    },

    async putIfVersion(path, value, version) {
      const { name, text } = toWrite(path, value)
      if (version === null) return String(await createParameter(writing, name, text))
      if (exclusively === undefined) throw new PortError('Unsupported', 'SSM updates over a version only under a lease')
      return await inTurn(name, async (stillHeld) => {
        const before = await newestVersion(client, name)
        if (before === null) throw absent(name)
        if (String(before) !== version) throw new PortError('Conflict', `parameter ${name} is of another version`)
        stillHeld()
        const written = await overwriteParameter(writing, name, text, before)
        if (written !== before + 1) throw overtaken(name)
        return String(written)
      })
    },

    async delete(path) {
      const name = secretPath(path, instance)
      await inTurn(name, async (stillHeld) => {
        stillHeld()
        await deleteParameter(client, name)
      })
    },

    list: (prefix) => listSecrets(client, instance, prefix),
  }

  function toWrite(path: string, value: Bytes): { name: string; text: string } {
    const name = secretPath(secretToWrite(path, value), instance)
    return { name, text: encodeDocument(name, value) }
  }

  /** A version that is gone is none; nor is one that was never a secret of ours: it must not hide the one that mended it. */
  async function secretAt(name: string, version: number): Promise<Bytes | null> {
    const kept = await readParameter(client, name, version)
    try {
      return kept && decodeDocument(name, kept.text)
    } catch {
      return null
    }
  }

  /** By the place it stands at: a Google Workspace's key has many addresses and one place. */
  async function inTurn<T>(name: string, work: (stillHeld: () => void) => Promise<T>): Promise<T> {
    return exclusively === undefined ? await work(() => undefined) : await exclusively(name.slice(root.length), work)
  }
}

function absent(name: string): PortError {
  return new PortError('NotFound', `there is no parameter ${name}`)
}

/** Which write is the older can't be told, and ours can't be taken back: the caller has to look. */
function overtaken(name: string): PortError {
  return new PortError('Unavailable', `parameter ${name} was written by someone else at the same time, without its lease: read it again`)
}
