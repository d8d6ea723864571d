import { escapePathSegment, escapeSegment, unescapeSegment } from './escapes.ts'

export { escapePathSegment, escapeSegment, unescapePathSegment, unescapeSegment } from './escapes.ts'

/** Who a person is everywhere: their identity, trimmed and in lower case. It is also `sub`. */
export type PersonId = string & { readonly __brand: 'PersonId' }

/** The identity as it is compared and kept. */
export function personId(text: string): PersonId {
  return text.toWellFormed().trim().toLowerCase() as PersonId
}

/**
 * Every logical key the service reads or writes, and the prefixes and sets it lists (seed: keys). Nothing else spells one.
 * Dotted keys take their names escaped, colon keys and set names take them raw. A plural is a prefix to list, or a set
 * where it says so. A `hash` is a SHA-256 in lower-case hex.
 */
export const keys = {
  // Authorization requests and device flows share one kind and differ by their first two letters.
  request: (id: string) => `req.a-${escapeSegment(id)}`,
  deviceRequest: (hash: string) => `req.dc-${escapeSegment(hash)}`,
  /** By the eight letters of a user code: upper case, no dash. */
  userCode: (code: string) => `req.uc-${escapeSegment(code)}`,
  pushedRequest: (id: string) => `par.${escapeSegment(id)}`,

  code: (hash: string) => `code.${escapeSegment(hash)}`,
  codeSpent: (hash: string) => `issuer:code-spent:${hash}`,

  session: (person: PersonId, sid: string) => `ses.${sessionRef(person, sid)}`,
  sessionsOf: (person: PersonId) => `ses.${escapeSegment(person)}.`,
  sessions: 'ses.',
  sessionPointer: (sid: string) => `sid.${escapeSegment(sid)}`,
  refreshToken: (hash: string) => `rt.${escapeSegment(hash)}`,
  token: (jti: string) => `tok.${escapeSegment(jti)}`,
  /** Where the Go service kept a session whose `rt` names a bare id. Read, never written. */
  legacySession: (sid: string) => `issuer:session:${sid}`,
  legacySessions: 'issuer:session:',
  /** A set of the Go service: the ids of a person's sessions. */
  legacySessionsOf: (person: PersonId) => `issuer:sessions-of:${person}`,
  /** Where the Go service kept a spent token's successor. Read, never written. */
  legacySuccessor: (hash: string) => `rtrot.${escapeSegment(hash)}`,

  signIn: (id: string) => `sso.${escapeSegment(id)}`,
  signInCookie: (hash: string) => `issuer:sso-cookie:${hash}`,
  /** A set: the ids of a person's sign-ins. */
  signInsOf: (person: PersonId) => `issuer:sso-of:${person}`,
  srp: (handle: string) => `srp.${escapeSegment(handle)}`,
  held: (person: PersonId) => `issuer:held:${person}`,

  logout: (person: PersonId, sid: string, client: string) => `logout.${sessionRef(person, sid)}.${escapeSegment(client)}`,
  logoutsOf: (person: PersonId) => `logout.${escapeSegment(person)}.`,
  logoutsOfSession: (person: PersonId, sid: string) => `logout.${sessionRef(person, sid)}.`,
  logoutOf: (sid: string) => `logout-of.${escapeSegment(sid)}`,
  logoutDue: (ending: string) => `logout-due.${escapeSegment(ending)}`,
  logoutsDue: 'logout-due.',

  // A kid stands as it was found: entries under kids of another implementation's making are adopted.
  signingKey: (alg: string, kid: string) => `keyring.${alg}:${kid}`,
  signingKeys: (alg: string) => `keyring.${alg}:`,
  allSigningKeys: 'keyring.',
  /** The Go service's spelling of the same record: a listing goes by the one that was written. */
  legacySigningKey: (alg: string, kid: string) => `issuer:keyring:entry:${alg}:${kid}`,
  legacySigningKeys: (alg: string) => `issuer:keyring:entry:${alg}:`,
  allLegacySigningKeys: 'issuer:keyring:entry:',
  retiredSigningKey: (alg: string, kid: string) => `issuer:keyring:retired:${alg}:${kid}`,
  retiredSigningKeys: (alg: string) => `issuer:keyring:retired:${alg}:`,
  stateSecretFingerprint: 'issuer:kms:state-secret-fingerprint',

  /** A target stands raw: `lease.export:slack-app.alerts`. It can hold no `/`. */
  lease: (kind: string, target: string) => `lease.${kind}:${target}`,
  notify: (target: string) => `notify.${target}`,
  notifications: 'notify.',
  /** The nonce of a signed operator call. */
  opsNonce: (nonce: string) => `dedupe.ops-${escapeSegment(nonce)}`,
  maintenance: 'rec.maintenance',
  recoveryOff: 'rec.recovery.off',
  consoleSessionKey: 'rec.console.session-key',

  googleWorkspace: (id: string) => `ws.dir.google.${escapeSegment(id)}`,
  googleWorkspaces: 'ws.dir.google.',

  githubOrg: (org: string) => `gh.org.${escapeSegment(org)}`,
  githubOrgs: 'gh.org.',
  /** By the account's id, not its login. */
  githubLink: (account: string) => `gh.link.${escapeSegment(account)}`,
  githubLinks: 'gh.link.',
  githubLinkApp: 'app.gh.link',
  githubCatalogueApp: (id: string) => `app.gh.cat.${escapeSegment(id)}`,
  githubCatalogueApps: 'app.gh.cat.',
  githubRunnerApp: (tier: string, org: string) => `app.gh.runner.${escapeSegment(tier)}.${escapeSegment(org)}`,
  githubRunnerApps: 'app.gh.runner.',
  githubConfirmation: (org: string) => `gate.github.${escapeSegment(org)}.confirm`,
  githubPass: (org: string) => `gate.github.${escapeSegment(org)}.pass`,
  githubClaim: (account: string) => `gate.github-claim.${escapeSegment(account)}`,
  githubClaims: 'gate.github-claim.',

  slackWorkspace: (team: string) => `ws.slack.${escapeSegment(team)}`,
  slackWorkspaces: 'ws.slack.',
  slackCatalogueApp: (id: string) => `app.slack.cat.${escapeSegment(id)}`,
  slackCatalogueApps: 'app.slack.cat.',
  slackShared: (name: string) => `rec.slack.shared.${escapeSegment(name)}`,
  slackSharedChannels: 'rec.slack.shared.',
  slackChannel: (team: string, name: string) => `rec.slack.channel.${escapeSegment(team)}.${escapeSegment(name)}`,
  slackChannelsOf: (team: string) => `rec.slack.channel.${escapeSegment(team)}.`,
  /** Of a whole workspace, or of one of its channels. */
  slackConfirmation: (team: string, channel?: string) =>
    `gate.slack.${escapeSegment(team)}.confirm${channel === undefined ? '' : `.${escapeSegment(channel)}`}`,
  slackPass: (team: string) => `gate.slack.${escapeSegment(team)}.pass`,
  slackGatesOf: (team: string) => `gate.slack.${escapeSegment(team)}.`,
  slackShare: (host: string, channel: string) => `share.${escapeSegment(host)}.${escapeSegment(channel)}`,
  slackSharesOf: (host: string) => `share.${escapeSegment(host)}.`,
  slackUser: (team: string, id: string) => `cache.slack.user.${escapeSegment(team)}.${escapeSegment(id)}`,

  backupRun: (id: string) => `rec.backup.run.${escapeSegment(id)}`,
  backupRuns: 'rec.backup.run.',
  backupRestore: (id: string) => `rec.backup.restore.${escapeSegment(id)}`,
  backupRestores: 'rec.backup.restore.',
  backupRetention: 'rec.backup.retention',
} as const

/** What a live `rt` holds: `<person>.<sid>` in key spelling, with exactly one dot (seed: keys). */
export function sessionRef(person: PersonId, sid: string): string {
  return `${escapeSegment(person)}.${escapeSegment(sid)}`
}

/** The session a `sessionRef` names, or null for what `sessionRef` does not write: a bare id, a spent mark, another spelling. */
export function parseSessionRef(text: string): { person: PersonId; sid: string } | null {
  const [first, second, ...more] = text.split('.').map(unescapeSegment)
  if (!first || !second || more.length > 0) return null
  const person = personId(first)
  return person === first ? { person, sid: second } : null
}

/** The logical addresses of secrets (seed: storage-layout). A document may name others. */
export const secretAddress = {
  stateSecret: 'internal/oidc/state-secret',
  recoveryVerifier: 'internal/oidc/recovery-verifier',
  conformanceVerifier: 'internal/oidc/conformance-verifier',
  /** A delivered client secret: the secret itself. */
  client: (id: string) => `internal/oidc/clients/${escapePathSegment(id)}`,
  /** A generated client secret: an oidc/v1 document. */
  generatedClient: (id: string) => `external/oidc/${escapePathSegment(id)}`,
  signInClientId: (provider: string) => `internal/oidc/signin/${escapePathSegment(provider)}/client-id`,
  signInClientSecret: (provider: string) => `internal/oidc/signin/${escapePathSegment(provider)}/client-secret`,
  consoleSessionKey: 'credentials/oidc/console/session-key',
  /** A Workspace's service-account key: its JSON file. */
  workspaceKey: ({ id, ref }: { id: string; ref: string }) =>
    `credentials/google/workspace/${escapePathSegment(id)}/${escapePathSegment(ref)}`,
} as const
