import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Policy } from '../../src/config/policy.ts'
import { type Bytes, utf8 } from '../../src/crypto/bytes.ts'
import type { DevVars } from '../dev-vars.ts'

/** A confidential client whose secret is delivered to it, and the variable a development secret is kept in. */
export interface DeliveredSecret {
  client: string
  path: string
  /** Its name in .dev.vars: `BACKEND_CLIENT_SECRET` for `backend`. */
  variable: string
}

/** The clients of a policy that a development secret is made for. */
export function deliveredSecrets(policy: Policy): DeliveredSecret[] {
  return Object.entries(policy.clients).flatMap(([client, { secret: path }]) => {
    if (typeof path !== 'string' || !path.startsWith('internal/')) return []
    return [{ client, path, variable: `${client.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_CLIENT_SECRET` }]
  })
}

/**
 * Puts each client's secret where the issuer reads it, once for the records in `folder`: one that was seeded there by hand since is
 * left alone.
 *
 * @throws what `put` throws
 */
export async function putSecretsOnce(secrets: readonly DeliveredSecret[], vars: DevVars, put: PutSecret, folder: string): Promise<void> {
  const file = join(folder, 'development-secrets.json')
  const done = new Set(await readNames(file))
  for (const { path, variable } of secrets) {
    const value = vars.get(variable) ?? ''
    const mark = createHash('sha256').update(`${path}\0${value}`).digest('hex')
    if (done.has(mark)) continue
    await put(path, utf8(value))
    done.add(mark)
    await mkdir(folder, { recursive: true })
    await writeFile(file, JSON.stringify([...done]))
  }
}

export type PutSecret = (path: string, value: Bytes) => Promise<unknown>

async function readNames(file: string): Promise<string[]> {
  try {
    const names: unknown = JSON.parse(await readFile(file, 'utf8'))
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  } catch {
    return [] // the records are new, or the file is: the secret is put again
  }
}
