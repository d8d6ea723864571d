/** What an event may say. Text, but for `count`. Nothing here is ever a token, a cookie or a secret. */
export interface AuditFields {
  /** The person or machine it is about: an identity. */
  readonly subject: string
  readonly client: string
  readonly resource: string
  /** Why, where it was refused or ended: an error code or words of ours. */
  readonly reason: string
  /** Who did it, where that is not the subject: an identity, `operator`, or `system`. */
  readonly by: string
  /** The way of signing in: `picker`, `recovery`, an upstream's name. The grant, of what a token endpoint refused. */
  readonly how: string
  readonly session: string
  readonly sign_in: string
  /** How many it was. */
  readonly count: number
  /** Of a signing key. */
  readonly alg: string
  readonly kid: string
  /** A connected Workspace, by its customer id. */
  readonly workspace: string
  /** An operator's command, by its name. */
  readonly command: string
}

type Field = keyof AuditFields

interface Shape {
  /** In operators' words: docs/operate.md has the same table. */
  when: string
  /** What it always says. */
  has: readonly Field[]
  /** What it says where that is known. */
  may: readonly Field[]
}

/** Every event there is. One that is not here, or lacks what it has, does not compile. */
export const catalogue = {
  'signin.completed': {
    when: 'somebody proved themselves, for a client or for a page of ours. A silent sign-in is only the `session.opened` with its `sign_in`',
    has: ['subject', 'how', 'sign_in'],
    may: ['client', 'resource'],
  },
  'signin.refused': {
    when: 'the upstream, the directory, the policy, or another person than the client named',
    has: ['reason', 'how'],
    may: ['subject', 'client', 'resource'],
  },
  'signin.ended': {
    when: "the directory disowns somebody who came back: their browser's sign-in ended",
    has: ['subject', 'reason', 'by', 'sign_in'],
    may: [],
  },
  'session.opened': {
    when: "a code or a device's code was redeemed (`how: device`)",
    has: ['subject', 'client', 'session'],
    may: ['resource', 'sign_in', 'how'],
  },
  'session.ended': {
    when: 'one session; `reason` is the cause, or "its code was presented twice"',
    has: ['subject', 'session', 'reason', 'by'],
    may: ['client'],
  },
  'sessions.ended': {
    when: 'several, an event a person, with `count`. Taken up by the tick it counts what was left, and may come twice',
    has: ['subject', 'reason', 'by', 'count'],
    may: ['client', 'sign_in'],
  },
  'sessions.asked': {
    when: "an operator looked at or ended others' sessions; `reason` says what",
    has: ['subject', 'reason'],
    may: [],
  },
  'sessions.refused': { when: 'somebody else tried to', has: ['subject', 'reason'], may: [] },
  'token.refused': {
    when: 'the token endpoint refused: `<error>: <why>`. Not a device that waits, not 429',
    has: ['reason', 'how'],
    may: ['subject', 'client'],
  },
  'token.revoked': { when: 'an access token alone', has: ['subject', 'client'], may: ['session'] },
  'revocation.refused': {
    when: "a client tried to revoke another's token",
    has: ['subject', 'client', 'reason'],
    may: [],
  },
  'introspection.refused': {
    when: 'a client asked about a token that is not its to see: it was told `active: false`',
    has: ['subject', 'client', 'reason'],
    may: [],
  },
  'userinfo.refused': {
    when: 'a live token without the scope for it',
    has: ['subject', 'client', 'reason'],
    may: ['session'],
  },
  'device.allowed': { when: 'a person let a device in', has: ['subject', 'client'], may: ['resource'] },
  'device.denied': { when: 'a person did not', has: ['subject', 'client'], may: ['resource'] },
  'device.refused': { when: 'the directory or the policy did not let them', has: ['subject', 'client', 'reason'], may: [] },
  'recovery.signed_in': {
    when: 'the recovery account proved itself. Written before it is let in, or it is not',
    has: ['subject', 'how'],
    may: ['client', 'resource', 'sign_in', 'by'],
  },
  'recovery.refused': {
    when: 'somebody tried the recovery account: a wrong password, or it is off',
    has: ['reason'],
    may: ['subject', 'client', 'how', 'count'],
  },
  'recovery.switched_off': { when: 'no recovery sign-in from then on', has: ['by'], may: ['subject', 'reason'] },
  'client_secret.created': { when: 'the secret of a client was made', has: ['client', 'by'], may: ['reason'] },
  'client_secret.rotated': {
    when: 'a client was given a new one; the old one is good for a while',
    has: ['client', 'by'],
    may: ['reason'],
  },
  'client_secret.purged': { when: 'what was left of a client that has none any more was deleted', has: ['client', 'by'], may: ['reason'] },
  'maintenance.set': { when: 'nothing more is written', has: ['by'], may: ['reason'] },
  'maintenance.lifted': { when: 'writes go on', has: ['by'], may: ['reason'] },
  'key.made': { when: 'a ring has a new signing key', has: ['alg', 'kid', 'by'], may: [] },
  'key.retired': { when: 'no token needs it any more, or an operator took it', has: ['alg', 'kid', 'by'], may: ['reason'] },
  'key.resealed': { when: 'it was sealed again, under the sealer of now', has: ['alg', 'kid', 'by'], may: ['reason'] },
  'key.unusable': { when: 'its seal does not open: it verifies and never signs', has: ['alg', 'kid', 'reason', 'by'], may: [] },
  'workspace.connected': { when: 'its directory is read from now on', has: ['workspace', 'by'], may: ['reason'] },
  'workspace.reconnected': { when: 'with another credential', has: ['workspace', 'by'], may: ['reason'] },
  'workspace.disconnected': { when: 'its people are not known any more', has: ['workspace', 'by'], may: ['reason'] },
  'workspace.domains_changed': { when: 'it serves other domains', has: ['workspace', 'by'], may: ['reason', 'count'] },
  'workspace.groups_changed': { when: 'other groups of it are read', has: ['workspace', 'by'], may: ['reason', 'count'] },
  'ops.command': { when: "an operator's signed command was carried out, or refused (`reason`)", has: ['command', 'by'], may: ['reason'] },
} as const satisfies Record<string, Shape>

export type AuditEventName = keyof typeof catalogue

type Saying<Name extends AuditEventName> = { readonly event: Name } & Pick<AuditFields, (typeof catalogue)[Name]['has'][number]> & {
    readonly [F in (typeof catalogue)[Name]['may'][number]]?: AuditFields[F] | undefined
  }

/**
 * One thing that was granted, refused or ended, with what the catalogue has it say. Unlike a request log it names people, so it goes only to
 * a sink the operator chose.
 */
export type AuditEntry = { [Name in AuditEventName]: Saying<Name> }[AuditEventName]

/** As a sink keeps it; `time` is RFC 3339 in UTC. Any of the catalogue: which fields are there, `event` says. */
export type AuditEvent = { readonly time: string; readonly request_id?: string | undefined; readonly event: AuditEventName } & {
  readonly [F in Field]?: AuditFields[F] | undefined
}
