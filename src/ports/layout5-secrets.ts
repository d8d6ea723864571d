import { PortError } from './error.ts'
import { modules } from './layout5-rules.ts'
import { secretAddress } from './secret-path.ts'

/** characters: what an SSM parameter's name may have, its path included */
const PARAMETER_LIMIT = 1_011

/** Words that are directories of the layout, this one's and older ones', below `/sluis` (seed: storage-layout, `<root>`). */
const reserved = ['private', 'export', 'internal', 'external']

/** Outline has secrets and a tick, and no records: a directory in SSM, no table. */
const internalModules: readonly string[] = [...modules, 'outline']

/** The modules with documents that consumers read. */
const externalModules = ['oidc', 'github', 'slack', 'cloudflare']

/** Where a credential's address stands in SSM. A Google Workspace's key is replaced in place, so it has no ref there. */
const credentials = [
  { address: 'credentials/google/workspace/<id>/<ref>', parameter: 'internal/google/workspaces/<id>/key' },
  { address: 'credentials/github/org/<id>/<ref>', parameter: 'internal/github/orgs/<id>/<ref>' },
  { address: 'credentials/github/app/<id>/<ref>', parameter: 'internal/github/apps/<id>/<ref>' },
  { address: 'credentials/github/link/<id>/<ref>', parameter: 'internal/github/links/<id>/<ref>' },
  { address: 'credentials/slack/workspace/<id>/<ref>', parameter: 'internal/slack/workspaces/<id>/<ref>' },
  { address: 'credentials/slack/app/<id>/<ref>', parameter: 'internal/slack/apps/<id>/<ref>' },
  { address: 'credentials/outline/workspace/<id>/<ref>', parameter: 'internal/outline/workspaces/<id>/<ref>' },
  { address: 'credentials/oidc/console/session-key', parameter: 'internal/oidc/console-session-key' },
]

/**
 * The SSM parameter of a secret's logical address (seed: storage-layout, SSM). Segments stand as they are: whoever builds an
 * address has escaped its names.
 *
 * @throws PortError Unsupported: no path, a path layout v5 has no parameter for, a name over 1,011 characters, no instance
 */
export function secretPath(path: string, instance: string): string {
  const address = secretAddress(path)
  if (!isInstanceName(instance)) throw unsupported('an instance is lower-case letters, digits and dashes, and no directory of the layout')
  const parameter = `/sluis/${instance}/${belowRoot(address)}`
  if (parameter.length > PARAMETER_LIMIT) throw unsupported(`the parameter's name has over ${PARAMETER_LIMIT} characters`)
  return parameter
}

/** Lower-case letters, digits and dashes; not a word that is a directory of the layout. */
export function isInstanceName(text: string): boolean {
  return /^[a-z0-9-]+$/.test(text) && !reserved.includes(text)
}

function belowRoot(address: string): string {
  const [space, module = '', ...rest] = address.split('/')
  switch (space) {
    case 'internal':
      if (internalModules.includes(module) && rest.length > 0) return address
      throw unsupported('an internal secret is internal/<module>/<name>')
    case 'external':
      if (externalModules.includes(module) && rest.length === 1) return address
      throw unsupported(`an external document is external/<module>/<id>, of ${externalModules.join(', ')}`)
    case 'credentials':
      return credentialBelowRoot(address)
    default:
      throw unsupported('layout v5 keeps credentials/, internal/ and external/')
  }
}

function credentialBelowRoot(address: string): string {
  for (const row of credentials) {
    const names = match(row.address, address)
    if (names !== null) return row.parameter.replaceAll(/<\w+>/g, (name) => names.get(name) ?? name)
  }
  if (address.startsWith('credentials/other/')) throw unsupported('layout v5 has no parameter for a credential no module owns')
  throw unsupported('layout v5 has no parameter for this credential')
}

/** What stands in an address for the names of a pattern, or null when it is of another shape. */
function match(pattern: string, address: string): Map<string, string> | null {
  const wanted = pattern.split('/')
  const given = address.split('/')
  if (wanted.length !== given.length) return null
  const names = new Map<string, string>()
  for (const [at, segment] of wanted.entries()) {
    const found = given[at] ?? ''
    if (segment.startsWith('<')) names.set(segment, found)
    else if (segment !== found) return null
  }
  return names
}

function unsupported(message: string): PortError {
  return new PortError('Unsupported', message)
}
