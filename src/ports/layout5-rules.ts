/** The modules that own a table, in the layout's order (seed: storage-layout). */
export const modules = ['oidc', 'github', 'slack', 'cloudflare', 'google', 'backup'] as const
export type Module = (typeof modules)[number]

/**
 * How the rest of a key, after its rule's prefix, becomes an id: as it is; every dot a slash; every dot a dash; every colon
 * a slash; the first colon a slash. All but `id` refuse a slash of the key's own, so that one always parts two segments.
 */
export type Form = 'id' | 'dots' | 'dashes' | 'colons' | 'lease'

interface Kind {
  prefix: string
  /** null: whichever module asks, in its own table. */
  module: Module | null | 'by target'
  kind: string
  /** Whether a backup takes its records; true unless it says not. The backup module's own and those of no module never are. */
  backup?: false
  /** Who may write it, when that is not the owner. */
  writer?: 'restore'
}

/** One key and no other. */
export type Exact = Kind & { exact: string }

/** Every key under a prefix that no longer prefix takes. */
export type Family = Kind & {
  form: Form
  /** What must come next, and is no part of the id: the one directory backend there is a module for. */
  within?: string
  /** What stands before the id. */
  before?: string
  /** Ids that are another rule's. */
  refuses?: RegExp
}

export type Rule = Exact | Family

/** State keys (seed: storage-layout, DynamoDB), longest prefix first. Keys under none of them are kind `other`. */
export const rules: readonly Rule[] = longestFirst<Rule>([
  { prefix: 'ses.', module: 'oidc', kind: 'session', form: 'dots' },
  { prefix: 'sid.', module: 'oidc', kind: 'session-pointer', form: 'id' },
  { prefix: 'rt.', module: 'oidc', kind: 'session-token', form: 'id' },
  { prefix: 'rtrot.', module: 'oidc', kind: 'session-rotated', form: 'id' },
  { prefix: 'tok.', module: 'oidc', kind: 'token', form: 'id' },
  { prefix: 'req.', module: 'oidc', kind: 'request', form: 'id' },
  { prefix: 'code.', module: 'oidc', kind: 'code', form: 'id' },
  { prefix: 'codesess.', module: 'oidc', kind: 'code-session', form: 'id' },
  { prefix: 'sso.', module: 'oidc', kind: 'sso', form: 'id' },
  { prefix: 'srp.', module: 'oidc', kind: 'srp', form: 'id', backup: false },
  { prefix: 'keyring.', module: 'oidc', kind: 'keyring', form: 'colons' },
  { prefix: 'rec.console.session-key', module: 'oidc', kind: 'console', exact: 'session-key' },
  { prefix: 'rec.recovery.off', module: 'oidc', kind: 'recovery', exact: 'off', backup: false },

  // The colon spellings, of the same kinds where a dotted one exists: both name one item.
  { prefix: 'issuer:session:', module: 'oidc', kind: 'session', form: 'id' },
  { prefix: 'issuer:session-token:', module: 'oidc', kind: 'session-token', form: 'id' },
  { prefix: 'issuer:session-rotated:', module: 'oidc', kind: 'session-rotated', form: 'id' },
  { prefix: 'issuer:token:', module: 'oidc', kind: 'token', form: 'id' },
  { prefix: 'issuer:request:', module: 'oidc', kind: 'request', form: 'id' },
  { prefix: 'issuer:code:', module: 'oidc', kind: 'code', form: 'id' },
  { prefix: 'issuer:code-session:', module: 'oidc', kind: 'code-session', form: 'id' },
  { prefix: 'issuer:code-spent:', module: 'oidc', kind: 'code-spent', form: 'id' },
  { prefix: 'issuer:sso:', module: 'oidc', kind: 'sso', form: 'id' },
  { prefix: 'issuer:sso-of:', module: 'oidc', kind: 'sso-of', form: 'id' },
  { prefix: 'issuer:sso-cookie:', module: 'oidc', kind: 'sso-cookie', form: 'id' },
  { prefix: 'issuer:held:', module: 'oidc', kind: 'held', form: 'id' },
  { prefix: 'issuer:kms:', module: 'oidc', kind: 'guard', form: 'id' },
  { prefix: 'issuer:keyring:entry:', module: 'oidc', kind: 'keyring', form: 'colons' },
  { prefix: 'issuer:keyring:retired:', module: 'oidc', kind: 'keyring-retired', form: 'colons' },

  // Ours: an amendment to the layout (docs/design.md, "Ports").
  { prefix: 'logout.', module: 'oidc', kind: 'logout', form: 'dots' },
  { prefix: 'logout-of.', module: 'oidc', kind: 'logout-of', form: 'id' },
  { prefix: 'logout-due.', module: 'oidc', kind: 'logout-due', form: 'id' },
  { prefix: 'par.', module: 'oidc', kind: 'pushed-request', form: 'id' },

  { prefix: 'gh.org.', module: 'github', kind: 'org', form: 'id' },
  { prefix: 'gh.link.', module: 'github', kind: 'link', form: 'id' },
  { prefix: 'app.gh.link', module: 'github', kind: 'app', exact: 'link' },
  { prefix: 'app.gh.cat.', module: 'github', kind: 'app', form: 'id', refuses: /^(?:link$|runner-)/ },
  { prefix: 'app.gh.runner.', module: 'github', kind: 'app', form: 'dashes', before: 'runner-' },
  { prefix: 'gate.github.', module: 'github', kind: 'gate', form: 'dots' },
  { prefix: 'gate.github-claim.', module: 'github', kind: 'claim', form: 'id' },

  { prefix: 'ws.slack.', module: 'slack', kind: 'workspace', form: 'id' },
  { prefix: 'app.slack.cat.', module: 'slack', kind: 'app', form: 'id' },
  { prefix: 'rec.slack.shared.', module: 'slack', kind: 'shared', form: 'id' },
  { prefix: 'rec.slack.channel.', module: 'slack', kind: 'channel', form: 'dots' },
  { prefix: 'gate.slack.', module: 'slack', kind: 'gate', form: 'dots' },
  { prefix: 'share.', module: 'slack', kind: 'share', form: 'dots' },
  { prefix: 'cache.slack.user.', module: 'slack', kind: 'user-cache', form: 'dots', backup: false },

  { prefix: 'ws.dir.', module: 'google', kind: 'workspace', form: 'dots', within: 'google.' },

  { prefix: 'rec.backup.run.', module: 'backup', kind: 'run', form: 'id' },
  { prefix: 'rec.backup.restore.', module: 'backup', kind: 'restore', form: 'id' },
  { prefix: 'rec.backup.retention', module: 'backup', kind: 'retention', exact: 'last' },

  { prefix: 'lease.', module: 'by target', kind: 'lease', form: 'lease', backup: false },
  { prefix: 'notify.', module: null, kind: 'notify', form: 'id' },
  { prefix: 'gate.', module: null, kind: 'gate', form: 'dots' },
  { prefix: 'cache.', module: null, kind: 'cache', form: 'dots' },
  { prefix: 'dedupe.', module: null, kind: 'dedupe', form: 'id' },
  { prefix: 'rec.maintenance', module: null, kind: 'maintenance', exact: 'flag', writer: 'restore' },
])

export interface SetRule {
  prefix: string
  kind: string
  /** The id of a rule of one set and no other. */
  exact?: string
}

/** Index sets, all of module oidc (seed: storage-layout, "Index set"). Every other set is kind `index`, of no module. */
export const setRules: readonly SetRule[] = [
  { prefix: 'issuer:keyring:index:', kind: 'keyring-index' },
  { prefix: 'issuer:sso-clients:', kind: 'sso-clients' },
  { prefix: 'issuer:sso-of:', kind: 'sso-of' },
  { prefix: 'issuer:sessions-of:', kind: 'sessions-of' },
  { prefix: 'issuer:sessions-for:', kind: 'sessions-for' },
  { prefix: 'issuer:sso', kind: 'sso-index', exact: 'all' },
  { prefix: 'issuer:sessions', kind: 'sessions-index', exact: 'all' },
]

/** The kinds that grow with people, sessions and requests. A kind has one answer, whatever prefix spells its keys. */
const growing = new Set([
  ...['request', 'pushed-request', 'code', 'code-spent', 'srp'],
  ...['session', 'session-pointer', 'session-token', 'token', 'held'],
  ...['sso', 'sso-cookie', 'logout', 'logout-of'],
  ...['link', 'user-cache'],
])

/** Whether there are as many records of a kind as there are people or sessions, so that one object would not do. */
export function growsWithUse(kind: string): boolean {
  return growing.has(kind)
}

export function isExact(rule: Rule): rule is Exact {
  return 'exact' in rule
}

/** The rule of a key, or undefined: kind `other`. */
export function ruleOf(key: string): Rule | undefined {
  return rules.find((rule) => (isExact(rule) ? key === rule.prefix : key.startsWith(rule.prefix)))
}

/** The rest of a key, or of a listing's prefix, as an id; null when it holds a slash that would pass for a separator. */
export function convert(form: Form, rest: string): string | null {
  if (form === 'id') return rest
  if (rest.includes('/')) return null
  switch (form) {
    case 'dots':
      return rest.replaceAll('.', '/')
    case 'dashes':
      return rest.replaceAll('.', '-')
    case 'colons':
      return rest.replaceAll(':', '/')
    case 'lease':
      return rest.replace(':', '/')
  }
}

/** The module whose work a lease guards, by what follows `lease.`; null: whichever module asks. */
export function leaseModule(rest: string): Module | null {
  const [kind = '', target = ''] = rest.split(':')
  // An export's lease is named after what is exported: `export:github-app.<id>`.
  const of = kind === 'export' ? (target.split('.')[0] ?? '') : kind
  if (of.startsWith('refresh')) return 'google'
  if (of.startsWith('backup') || of.startsWith('restore')) return 'backup'
  return (['github', 'slack', 'cloudflare'] as const).find((module) => of.startsWith(module)) ?? null
}

function longestFirst<T extends { prefix: string }>(list: T[]): T[] {
  return list.sort((a, b) => b.prefix.length - a.prefix.length)
}
