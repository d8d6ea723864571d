import { PortError } from './error.ts'
import type { Bytes } from './platform.ts'
import { SECRET_VALUE_LIMIT } from './secrets.ts'

/**
 * The one address under which a secret is kept. `credentials/oidc-client/<id>/secret` and `external/oidc/<id>` are one
 * place (seed: storage-layout, "Another Secrets store"); every other path is its own address.
 *
 * @throws PortError Unsupported: not one or more segments of `[A-Za-z0-9._-]` joined by `/`, or one of them `.` or `..`
 */
export function secretAddress(path: string): string {
  const segments = path.split('/')
  if (!segments.every(isSegment)) throw new PortError('Unsupported', 'a secret path is segments of [A-Za-z0-9._-] joined by /')
  const [credentials, module, id, secret] = segments
  const isClient = segments.length === 4 && credentials === 'credentials' && module === 'oidc-client' && secret === 'secret'
  return isClient ? `external/oidc/${id}` : path
}

/**
 * What every address below a listing's prefix starts with: whole segments, so `a` and `a/` are both `a/`, and the empty
 * prefix is empty. A listing names addresses as they are kept: a client's secret stands under `external/oidc`.
 *
 * @throws PortError Unsupported: as for a path
 */
export function secretListing(prefix: string): string {
  if (prefix === '') return ''
  return `${secretAddress(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix)}/`
}

/**
 * The address of a write whose value fits. The size is looked at first, as State does.
 *
 * @throws PortError TooLarge, Unsupported
 */
export function secretToWrite(path: string, value: Bytes): string {
  if (value.length > SECRET_VALUE_LIMIT) throw new PortError('TooLarge', `a secret is at most ${SECRET_VALUE_LIMIT} bytes`)
  return secretAddress(path)
}

function isSegment(text: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(text) && text !== '.' && text !== '..'
}
