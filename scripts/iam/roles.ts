import { secretAddress } from '../../src/ports/keys.ts'
import { type Module, modules } from '../../src/ports/layout5.ts'
import { objects } from './objects.ts'
import type { Place } from './place.ts'
import { documentsOf, type PolicyDocument, type Statement } from './policy.ts'
import { ownRecords, peerRecords, restoredTables, wholeTables } from './records.ts'
import { sealing } from './sealing.ts'
import { type SecretsGrant, secrets } from './secrets.ts'

/** A Worker by its `ROLE`; `restore` never runs in the issuer's. */
export const roles = ['issuer', 'controllers', 'backup', 'restore'] as const
export type Role = (typeof roles)[number]

/** A policy and what it is called: `sluis-<instance>-<role>-<module>`, numbered when it takes more than one. */
export interface NamedPolicy {
  name: string
  role: Role
  module: Module
  document: PolicyDocument
}

/** What each credential of a role may do, no more: one policy a module, since `AWS_<MODULE>_ACCESS_KEY_ID` names one user each. */
export function policiesOf(place: Place, role: Role): NamedPolicy[] {
  return [...statementsOf(place, role)].flatMap(([module, statements]) => {
    const documents = documentsOf(statements)
    const name = `sluis-${place.instance}-${role}-${module}`
    return documents.map((document, at) => ({ name: documents.length === 1 ? name : `${name}-${at + 1}`, role, module, document }))
  })
}

function statementsOf(place: Place, role: Role): Map<Module, Statement[]> {
  switch (role) {
    case 'issuer':
      return new Map([['oidc', issuer(place)]])
    case 'controllers':
      return new Map((['github', 'slack', 'cloudflare', 'google'] as const).map((module) => [module, controller(place, module)]))
    case 'backup':
      return new Map([['backup', backup(place)]])
    case 'restore':
      return new Map([['backup', restore(place)]])
  }
}

/** Read by operators only (seed: storage-layout, SSM). */
const PASSWORDS = ['internal/oidc/recovery-password', 'internal/oidc/conformance-password']

function issuer(place: Place): Statement[] {
  return [
    ...ownRecords(place, 'oidc'),
    ...peerRecords(place, ['google', 'github', 'slack']),
    ...sealing(place),
    ...secrets(place, {
      read: ['internal/oidc/*', 'external/oidc/*'],
      write: ['internal/oidc/*', 'external/oidc/*'],
      // Not internal/oidc itself, which holds the passwords.
      list: ['internal/oidc/clients', 'external/oidc'],
      denied: PASSWORDS,
      // An operator's: an issuer that could replace them could let anybody in.
      readOnly: [secretAddress.stateSecret, secretAddress.recoveryVerifier, secretAddress.conformanceVerifier, 'internal/oidc/signin/*'],
    }),
    // The directory's cache says who is in which group.
    ...objects(place, { read: ['google/cache/*'], write: ['oidc/*'] }),
  ]
}

/** A controller writes its own module, and knows groups by the directory's cache, as the issuer does. */
function controller(place: Place, module: 'github' | 'slack' | 'cloudflare' | 'google'): Statement[] {
  return [
    ...ownRecords(place, module),
    ...secrets(place, controllerSecrets(module)),
    ...objects(place, { read: ['google/cache/*'], write: [`${module}/*`] }),
  ]
}

function controllerSecrets(module: Module): SecretsGrant {
  // The directory has no documents for consumers (seed: storage-layout, SSM).
  const external = module === 'google' ? [] : [`external/${module}`]
  const directories = [`internal/${module}`, ...external]
  const below = directories.map((directory) => `${directory}/*`)
  // A minter's credential is an operator's.
  const readOnly = module === 'cloudflare' ? ['internal/cloudflare/*/minter'] : []
  return { read: below, write: below, list: directories, readOnly }
}

const others = modules.filter((module) => module !== 'backup')
const RESTORE_IDENTITY = 'internal/backup/restore-identity'

/** Reads everything but what only a restore may know, and writes its own runs and archives. */
function backup(place: Place): Statement[] {
  return [
    ...ownRecords(place, 'backup'),
    wholeTables(place, others),
    ...secrets(place, {
      read: ['internal/*', 'external/*'],
      write: [],
      list: [...others.map((module) => `internal/${module}`), 'external'],
      denied: [RESTORE_IDENTITY, ...PASSWORDS],
    }),
    ...objects(place, { read: others.map((module) => `${module}/*`), write: [`backup/${place.instance}/*`] }),
  ]
}

/** Puts everything back, the maintenance flag up and down. */
function restore(place: Place): Statement[] {
  return [
    wholeTables(place, modules),
    restoredTables(place, modules),
    ...secrets(place, {
      read: ['internal/*', 'external/*'],
      write: ['internal/*', 'external/*'],
      list: ['internal', 'external'],
      readOnly: [RESTORE_IDENTITY],
    }),
    ...objects(place, { read: [`backup/${place.instance}/*`], write: others.map((module) => `${module}/*`) }),
  ]
}
