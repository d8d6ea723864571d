import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPortError, type PortErrorCode } from './error.ts'
import { locate, locateMembers, locateOrNull, locatePrefix, locateSet, memberOf, moduleOfPrefix } from './layout5.ts'

type Row = [string, string | null, string, string]

const keyRows: Row[] = [
  ['ws.dir.google.C01ipl6j0', 'google', 'workspace', 'C01ipl6j0'],
  ['ws.dir.google.x~7Ey', 'google', 'workspace', 'x~7Ey'],
  ['ws.slack.T01', 'slack', 'workspace', 'T01'],
  ['gh.org.acme', 'github', 'org', 'acme'],
  ['gh.org.acme-labs', 'github', 'org', 'acme-labs'],
  ['gh.link.299386', 'github', 'link', '299386'],
  ['app.gh.link.x', null, 'other', 'app.gh.link.x'],
  ['app.gh.cat.renovate', 'github', 'app', 'renovate'],
  ['app.gh.cat.my~2Eapp', 'github', 'app', 'my~2Eapp'],
  ['app.gh.runner.a-b.c', 'github', 'app', 'runner-a-b-c'],
  ['app.gh.runner.a.b-c', 'github', 'app', 'runner-a-b-c'],
  ['app.slack.cat.alerts', 'slack', 'app', 'alerts'],
  ['rec.slack.channel.acme.ops', 'slack', 'channel', 'acme/ops'],
  ['rec.console.session-key', 'oidc', 'console', 'session-key'],
  ['rec.backup.run.20261010T020000Z-3fa9c1', 'backup', 'run', '20261010T020000Z-3fa9c1'],
  ['rec.backup.retention', 'backup', 'retention', 'last'],
  ['rec.maintenance', null, 'maintenance', 'flag'],
  ['rec.t.x', null, 'other', 'rec.t.x'],
  ['gate.github.acme.confirm', 'github', 'gate', 'acme/confirm'],
  ['gate.github.acme.pass', 'github', 'gate', 'acme/pass'],
  ['gate.slack.acme.confirm', 'slack', 'gate', 'acme/confirm'],
  ['gate.slack.acme.pass', 'slack', 'gate', 'acme/pass'],
  ['gate.other.thing', null, 'gate', 'other/thing'],
  ['share.acme.partners', 'slack', 'share', 'acme/partners'],
  ['cache.deadbeef.groups', null, 'cache', 'deadbeef/groups'],
  ['dedupe.abc', null, 'dedupe', 'abc'],
  ['lease.github-tick:acme', 'github', 'lease', 'github-tick/acme'],
  ['lease.slack-tick:acme', 'slack', 'lease', 'slack-tick/acme'],
  ['lease.cloudflare-tick:main', 'cloudflare', 'lease', 'cloudflare-tick/main'],
  ['lease.refresh:C01ipl6j0', 'google', 'lease', 'refresh/C01ipl6j0'],
  ['lease.restore:run', 'backup', 'lease', 'restore/run'],
  ['lease.export:slack-app.alerts', 'slack', 'lease', 'export/slack-app.alerts'],
  ['lease.export:github-app.x', 'github', 'lease', 'export/github-app.x'],
  ['lease.tick:all', null, 'lease', 'tick/all'],
  ['lease.held', null, 'lease', 'held'],
  ['notify.acme', null, 'notify', 'acme'],
  ['ses.ada.s1', 'oidc', 'session', 'ada/s1'],
  ['ses.ada~40acme~2Eexample.s1', 'oidc', 'session', 'ada~40acme~2Eexample/s1'],
  ['sid.s1', 'oidc', 'session-pointer', 's1'],
  ['code.c1', 'oidc', 'code', 'c1'],
  ['codesess.r1', 'oidc', 'code-session', 'r1'],
  ['tok.j1', 'oidc', 'token', 'j1'],
  ['sso.s1', 'oidc', 'sso', 's1'],
  ['rt.h1', 'oidc', 'session-token', 'h1'],
  ['rtrot.h1', 'oidc', 'session-rotated', 'h1'],
  ['issuer:request:5b0f1f0e', 'oidc', 'request', '5b0f1f0e'],
  ['issuer:code:c1', 'oidc', 'code', 'c1'],
  ['issuer:code-session:r1', 'oidc', 'code-session', 'r1'],
  ['issuer:sso:s1', 'oidc', 'sso', 's1'],
  ['issuer:sso', null, 'other', 'issuer:sso'],
  ['issuer:sso-of:ada@acme.example', 'oidc', 'sso-of', 'ada@acme.example'],
  ['issuer:session:s1', 'oidc', 'session', 's1'],
  ['issuer:session-token:h1', 'oidc', 'session-token', 'h1'],
  ['issuer:session-rotated:h1', 'oidc', 'session-rotated', 'h1'],
  ['issuer:keyring:retired:ES384:kid1', 'oidc', 'keyring-retired', 'ES384/kid1'],
  ['issuer:held:ada@acme.example', 'oidc', 'held', 'ada@acme.example'],
  ['issuer:kms:state-secret-fingerprint', 'oidc', 'guard', 'state-secret-fingerprint'],
  ['lease', null, 'other', 'lease'],

  // The other rows of the seed: storage-layout.
  ['app.gh.link', 'github', 'app', 'link'],
  ['app.gh.runner.stable.acme', 'github', 'app', 'runner-stable-acme'],
  ['gate.github-claim.299386', 'github', 'claim', '299386'],
  ['gate.slack.acme.confirm.ops', 'slack', 'gate', 'acme/confirm/ops'],
  ['rec.slack.shared.partners', 'slack', 'shared', 'partners'],
  ['cache.slack.user.T01.U01', 'slack', 'user-cache', 'T01/U01'],
  ['rec.backup.restore.r1', 'backup', 'restore', 'r1'],
  ['rec.recovery.off', 'oidc', 'recovery', 'off'],
  ['lease.github-links:all', 'github', 'lease', 'github-links/all'],
  ['lease.backup:run', 'backup', 'lease', 'backup/run'],
  ['lease.outline-tick:acme', null, 'lease', 'outline-tick/acme'],
  ['req.a-r1', 'oidc', 'request', 'a-r1'],
  ['req.dc-h1', 'oidc', 'request', 'dc-h1'],
  ['srp.h1', 'oidc', 'srp', 'h1'],
  ['keyring.ES256:kid1', 'oidc', 'keyring', 'ES256/kid1'],
  ['issuer:keyring:entry:ES384:kid1', 'oidc', 'keyring', 'ES384/kid1'],
  ['issuer:code-spent:h1', 'oidc', 'code-spent', 'h1'],
  ['issuer:sso-cookie:h1', 'oidc', 'sso-cookie', 'h1'],
  ['issuer:token:j1', 'oidc', 'token', 'j1'],
  ['dedupe.ops-n1', null, 'dedupe', 'ops-n1'],

  // The amendment.
  ['logout.ada.s1.web', 'oidc', 'logout', 'ada/s1/web'],
  ['logout-of.s1', 'oidc', 'logout-of', 's1'],
  ['logout-due.e1', 'oidc', 'logout-due', 'e1'],
  ['par.p1', 'oidc', 'pushed-request', 'p1'],
]

describe('a State key', () => {
  it.each(keyRows)('%s stands in %s at %s / %s', (key, module, kind, sk) => {
    expect(locate(key)).toMatchObject({ module, kind, pk: kind, sk })
  })

  const refused: [string, string][] = [
    ['', 'empty'],
    ['.x', 'an empty first segment'],
    ['ws.dir.', 'a prefix'],
    ['ws.dir.entra.4b1f', 'a directory of no module'],
    ['ws.dir.google.', 'a prefix'],
    ['ws.dir.google.a/b', 'a slash'],
    ['app.gh.cat.link', 'the link App'],
    ['app.gh.cat.runner-x', 'a runner App'],
    ['lease.a:b/c', 'a slash'],
    ['gh.org.', 'a prefix'],
    ['tok.', 'a prefix'],
    ['gate.a/b', 'a slash'],
    ['keyring.ES384/k', 'a slash'],
    ['app.gh.runner.a/b', 'a slash'],
    ['logout.ada/s1', 'a slash'],
  ]
  it.each(refused)('%s is refused: %s', (key) => {
    expect(codeOf(() => locate(key))).toBe('Unsupported')
    expect(locateOrNull(key)).toBeNull()
  })

  it('is refused with half a surrogate pair, which UTF-8 can not spell', () => {
    expect(codeOf(() => locate('tok.\ud800'))).toBe('Unsupported')
    expect(codeOf(() => locateSet('s', 'm\udc00'))).toBe('Unsupported')
  })

  it('has a sort key of 1,024 bytes at most, counted in UTF-8', () => {
    expect(locate(`tok.${'é'.repeat(512)}`).sk).toHaveLength(512)
    expect(codeOf(() => locate(`tok.${'é'.repeat(512)}x`))).toBe('Unsupported')
    expect(codeOf(() => locate(`tok.${'x'.repeat(2_000)}`))).toBe('Unsupported')
  })

  it('is not repeated by the refusal, for keys hold people', () => {
    expect(() => locate('ses.ada/lovelace')).toThrow(/^(?!.*lovelace)/)
  })
})

describe('a backup', () => {
  const kept = ['ses.ada.s1', 'gh.org.acme', 'gate.github.acme.confirm', 'logout-due.e1', 'ws.dir.google.C01', 'keyring.ES256:k']
  it.each(kept)('takes %s', (key) => {
    expect(locate(key).backup).toBe(true)
  })

  const left = ['srp.h', 'rec.recovery.off', 'rec.maintenance', 'lease.github-tick:acme', 'lease.tick:all', 'notify.acme', 'cache.d.n']
  it.each([...left, 'cache.slack.user.T.U', 'rec.backup.run.r1', 'rec.backup.retention', 'gate.other.thing', 'dedupe.a', 'any'])(
    'leaves %s',
    (key) => {
      expect(locate(key).backup).toBe(false)
    },
  )

  it('takes the sets of a module and no others', () => {
    expect([locateSet('issuer:sso', 's1').backup, locateSet('any', 'm').backup]).toEqual([true, false])
  })
})

describe('a member of an Index set', () => {
  const setRows: [string, string, string | null, string, string][] = [
    ['issuer:keyring:index:ES384', 'kid1', 'oidc', 'keyring-index', 'ES384/kid1'],
    ['issuer:sso-clients:s1', 'console', 'oidc', 'sso-clients', 's1/console'],
    ['issuer:sso-of:ada@acme.example', 's1', 'oidc', 'sso-of', 'ada@acme.example/s1'],
    ['issuer:sessions-for:console', 's1', 'oidc', 'sessions-for', 'console/s1'],
    ['issuer:sessions-for:https://a/b', 's1', 'oidc', 'sessions-for', 'https:~2F~2Fa~2Fb/s1'],
    ['issuer:sessions-for:a~b', 's1', 'oidc', 'sessions-for', 'a~7Eb/s1'],
    ['issuer:sessions', 's1', 'oidc', 'sessions-index', 'all/s1'],
    ['something', 'm', null, 'index', 'something/m'],
    ['idx:m', 'a', null, 'index', 'idx:m/a'],
    ['a/b', 'm/n', null, 'index', 'a~2Fb/m/n'],
    ['issuer:sso-clients:', 'm', null, 'index', 'issuer:sso-clients:/m'],
    ['issuer:sso', 's1', 'oidc', 'sso-index', 'all/s1'],
    ['issuer:sessions-of:ada', 's1', 'oidc', 'sessions-of', 'ada/s1'],
    ['issuer:sessions-for:a~2Fb', 's1', 'oidc', 'sessions-for', 'a~7E2Fb/s1'],
    ['issuer:held:ada', 's1', null, 'index', 'issuer:held:ada/s1'],
  ]
  it.each(setRows)('of %s, %s, stands in %s at %s / %s', (set, member, module, pk, sk) => {
    expect(locateSet(set, member)).toMatchObject({ module, pk, sk })
    expect(locateMembers(set)).toEqual({ module, pk, skPrefix: sk.slice(0, sk.indexOf('/') + 1) })
    expect(memberOf(sk)).toBe(member)
  })

  it.each([
    ['', 'm'],
    ['s', ''],
    ['s', 'x'.repeat(1_023)],
  ])('is refused with an empty name or a sort key over the limit (%#)', (set, member) => {
    expect(codeOf(() => locateSet(set, member))).toBe('Unsupported')
  })

  it('is nowhere for the empty set', () => {
    expect(locateMembers('')).toBeNull()
  })

  it('is read back whatever its set is called', () => {
    fc.assert(
      fc.property(name, name, (set, member) => {
        const { pk, sk } = locateSet(set, member)
        const all = locateMembers(set)
        expect(memberOf(sk)).toBe(member)
        expect(all?.pk).toBe(pk)
        expect(sk).toBe(`${all?.skPrefix}${member}`)
      }),
    )
  })
})

describe('a listing', () => {
  const queries: [string, string | null, string, string | null][] = [
    ['ws.dir.', 'google', 'workspace', null],
    ['ws.dir.google.', 'google', 'workspace', null],
    ['ws.dir.google.C01', 'google', 'workspace', 'C01'],
    ['app.gh.cat.', 'github', 'app', null],
    ['app.gh.runner.stable.', 'github', 'app', 'runner-stable-'],
    ['rec.slack.channel.acme.', 'slack', 'channel', 'acme/'],
    ['gate.github.acme.', 'github', 'gate', 'acme/'],
    ['lease.slack-tick:', 'slack', 'lease', 'slack-tick/'],
    ['lease.unknown:', null, 'lease', 'unknown/'],
    ['lease.export:slack-app.', 'slack', 'lease', 'export/slack-app.'],
    ['notify.', null, 'notify', null],
    ['tok.p.', 'oidc', 'token', 'p.'],
    ['ses.ada.', 'oidc', 'session', 'ada/'],
    ['issuer:code:', 'oidc', 'code', null],
    ['dedupe.a/b', null, 'dedupe', 'a/b'],
    ['app.gh.runner.', 'github', 'app', 'runner-'],
    ['gate.other.', null, 'gate', 'other/'],
    ['keyring.ES256:', 'oidc', 'keyring', 'ES256/'],
    ['issuer:keyring:retired:ES256:', 'oidc', 'keyring-retired', 'ES256/'],
    ['ses.', 'oidc', 'session', null],
    ['logout.ada.s1.', 'oidc', 'logout', 'ada/s1/'],
    ['logout.', 'oidc', 'logout', null],
    ['logout-of.', 'oidc', 'logout-of', null],
    ['logout-due.', 'oidc', 'logout-due', null],
  ]
  it.each(queries)('of %s queries %s, %s, %s', (prefix, module, pk, skPrefix) => {
    expect(locatePrefix(prefix)).toEqual({ query: { module, pk, skPrefix } })
    expect(moduleOfPrefix(prefix)).toBe(module)
  })

  const scans = [
    'ws.dir.google',
    'ws.dir.entra.',
    'lease.slack-ti',
    'lease.',
    'ws.',
    '',
    'gate.',
    'cache.',
    'cache.slack.',
    'app.',
    'rec.',
    'issuer:',
    'issuer:keyring:',
    'share.a/b',
  ]
  it.each([
    ...scans,
    'logout',
    'logout-',
    'issuer:code',
    'app.gh.link',
    'rec.maintenance',
    'lease.export:slack',
    'lease.export:',
    'unknown.',
    '.x',
  ])('of "%s" scans', (prefix) => {
    expect(locatePrefix(prefix)).toEqual({ scan: true })
  })

  const owners: [string, string | null][] = [
    ['issuer:', 'oidc'],
    ['issuer:keyring:', 'oidc'],
    ['logout', 'oidc'],
    ['app.gh.', 'github'],
    ['gate.github.a/b', 'github'],
    ['share.a/b', 'slack'],
    ['rec.backup.', 'backup'],
    ['ws.dir.entra.', 'google'],
    ['', 'several'],
    ['ws.', 'several'],
    ['app.', 'several'],
    ['rec.', 'several'],
    ['gate.', 'several'],
    ['gate.github', 'several'],
    ['cache.slack.', 'several'],
    ['lease.', 'several'],
    ['rec.maintenance', null],
    ['notif', null],
    ['unknown.', null],
  ]
  it.each(owners)('of "%s" is of module %s', (prefix, module) => {
    expect(moduleOfPrefix(prefix)).toBe(module)
  })

  it('finds every record whose key starts with its prefix', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keyRows.map(([key]) => key)), part, fc.nat(), (key, more, cut) => {
        const found = locateOrNull(`${key}${more}`)
        const located = locatePrefix(`${key}${more}`.slice(0, cut % (key.length + more.length + 1)))
        if (found === null || 'scan' in located) return
        const { module, pk, skPrefix } = located.query
        expect([found.module, found.pk]).toEqual([module, pk])
        expect(found.sk.startsWith(skPrefix ?? '')).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

const name = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
const part = fc.string({ maxLength: 8, unit: fc.constantFrom('.', ':', '/', '~', '-', 'a', 'link', 'runner-', 'google.') })

function codeOf(act: () => unknown): PortErrorCode | null {
  try {
    act()
    return null
  } catch (error) {
    if (isPortError(error)) return error.code
    throw error
  }
}
