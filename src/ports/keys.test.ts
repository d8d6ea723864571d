import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keys, parseSessionRef, personId, sessionRef } from './keys.ts'
import { locate, locatePrefix } from './layout5.ts'

const ada = personId(' Ada@Acme.example ')
const adaInKey = 'ada~40acme~2Eexample'

describe('a key', () => {
  it.each([
    [keys.request('r1'), 'req.a-r1', 'request'],
    [keys.deviceRequest('h1'), 'req.dc-h1', 'request'],
    [keys.userCode('BCDFGHJK'), 'req.uc-BCDFGHJK', 'request'],
    [keys.pushedRequest('p1'), 'par.p1', 'pushed-request'],
    [keys.code('h1'), 'code.h1', 'code'],
    [keys.codeSpent('h1'), 'issuer:code-spent:h1', 'code-spent'],
    [keys.session(ada, 's1'), `ses.${adaInKey}.s1`, 'session'],
    [keys.sessionPointer('s1'), 'sid.s1', 'session-pointer'],
    [keys.refreshToken('h1'), 'rt.h1', 'session-token'],
    [keys.token('j1'), 'tok.j1', 'token'],
    [keys.legacySession('s1'), 'issuer:session:s1', 'session'],
    [keys.legacySuccessor('h1'), 'rtrot.h1', 'session-rotated'],
    [keys.signIn('i1'), 'sso.i1', 'sso'],
    [keys.signInCookie('h1'), 'issuer:sso-cookie:h1', 'sso-cookie'],
    [keys.srp('h1'), 'srp.h1', 'srp'],
    [keys.held(ada), 'issuer:held:ada@acme.example', 'held'],
    [keys.logout(ada, 's1', 'https://rp.example'), `logout.${adaInKey}.s1.https~3A~2F~2Frp~2Eexample`, 'logout'],
    [keys.logoutOf('s1'), 'logout-of.s1', 'logout-of'],
    [keys.logoutDue('e1'), 'logout-due.e1', 'logout-due'],
    [keys.signingKey('ES256', 'k1'), 'keyring.ES256:k1', 'keyring'],
    [keys.retiredSigningKey('ES256', 'k1'), 'issuer:keyring:retired:ES256:k1', 'keyring-retired'],
    [keys.stateSecretFingerprint, 'issuer:kms:state-secret-fingerprint', 'guard'],
    [keys.lease('github-tick', 'acme'), 'lease.github-tick:acme', 'lease'],
    [keys.notify('github:links'), 'notify.github:links', 'notify'],
    [keys.opsNonce('n1'), 'dedupe.ops-n1', 'dedupe'],
    [keys.maintenance, 'rec.maintenance', 'maintenance'],
    [keys.recoveryOff, 'rec.recovery.off', 'recovery'],
    [keys.consoleSessionKey, 'rec.console.session-key', 'console'],
    [keys.googleWorkspace('x~y'), 'ws.dir.google.x~7Ey', 'workspace'],
    [keys.githubOrg('acme'), 'gh.org.acme', 'org'],
    [keys.githubLink('299386'), 'gh.link.299386', 'link'],
    [keys.githubLinkApp, 'app.gh.link', 'app'],
    [keys.githubCatalogueApp('my.app'), 'app.gh.cat.my~2Eapp', 'app'],
    [keys.githubRunnerApp('a.b', 'c'), 'app.gh.runner.a~2Eb.c', 'app'],
    [keys.githubConfirmation('acme'), 'gate.github.acme.confirm', 'gate'],
    [keys.githubPass('acme'), 'gate.github.acme.pass', 'gate'],
    [keys.githubClaim('1'), 'gate.github-claim.1', 'claim'],
    [keys.slackWorkspace('T01'), 'ws.slack.T01', 'workspace'],
    [keys.slackCatalogueApp('alerts'), 'app.slack.cat.alerts', 'app'],
    [keys.slackShared('partners'), 'rec.slack.shared.partners', 'shared'],
    [keys.slackChannel('acme', 'ops.eu'), 'rec.slack.channel.acme.ops~2Eeu', 'channel'],
    [keys.slackConfirmation('acme'), 'gate.slack.acme.confirm', 'gate'],
    [keys.slackConfirmation('acme', 'ops'), 'gate.slack.acme.confirm.ops', 'gate'],
    [keys.slackPass('acme'), 'gate.slack.acme.pass', 'gate'],
    [keys.slackShare('acme', 'partners'), 'share.acme.partners', 'share'],
    [keys.slackUser('T01', 'U01'), 'cache.slack.user.T01.U01', 'user-cache'],
    [keys.backupRun('b1'), 'rec.backup.run.b1', 'run'],
    [keys.backupRestore('b1'), 'rec.backup.restore.b1', 'restore'],
    [keys.backupRetention, 'rec.backup.retention', 'retention'],
  ])('%s is spelt %s and is of kind %s', (built, spelt, kind) => {
    expect(built).toBe(spelt)
    expect(locate(built).kind).toBe(kind)
  })

  it.each([
    [keys.sessions, keys.session(ada, 's1')],
    [keys.sessionsOf(ada), keys.session(ada, 's1')],
    [keys.logoutsOf(ada), keys.logout(ada, 's1', 'web')],
    [keys.logoutsOfSession(ada, 's1'), keys.logout(ada, 's1', 'web')],
    [keys.logoutsDue, keys.logoutDue('e1')],
    [keys.signingKeys('ES256'), keys.signingKey('ES256', 'k1')],
    [keys.retiredSigningKeys('ES256'), keys.retiredSigningKey('ES256', 'k1')],
    [keys.notifications, keys.notify('acme')],
    [keys.googleWorkspaces, keys.googleWorkspace('C01')],
    [keys.githubOrgs, keys.githubOrg('acme')],
    [keys.githubLinks, keys.githubLink('1')],
    [keys.githubCatalogueApps, keys.githubCatalogueApp('renovate')],
    [keys.githubRunnerApps, keys.githubRunnerApp('stable', 'acme')],
    [keys.githubClaims, keys.githubClaim('1')],
    [keys.slackWorkspaces, keys.slackWorkspace('T01')],
    [keys.slackCatalogueApps, keys.slackCatalogueApp('alerts')],
    [keys.slackSharedChannels, keys.slackShared('partners')],
    [keys.slackChannelsOf('acme'), keys.slackChannel('acme', 'ops')],
    [keys.slackGatesOf('acme'), keys.slackPass('acme')],
    [keys.slackSharesOf('acme'), keys.slackShare('acme', 'partners')],
    [keys.backupRuns, keys.backupRun('b1')],
    [keys.backupRestores, keys.backupRestore('b1')],
  ])('of the prefix %s is listed by one query: %s', (prefix, key) => {
    expect(key.startsWith(prefix)).toBe(true)
    expect(locatePrefix(prefix)).toMatchObject({ query: { pk: locate(key).kind } })
  })

  it('takes a person raw in a set', () => {
    expect(keys.signInsOf(ada)).toBe('issuer:sso-of:ada@acme.example')
  })

  it('keeps one name from passing for two', () => {
    expect(keys.session(personId('a.b'), 'c')).not.toBe(keys.session(personId('a'), 'b.c'))
  })
})

describe('a person', () => {
  it('is their identity, trimmed and in lower case', () => {
    expect(ada).toBe('ada@acme.example')
  })
})

describe('the reference to a session', () => {
  it('comes back, and has exactly one dot', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' })
    fc.assert(
      fc.property(
        text.map(personId).filter((person) => person !== ''),
        text,
        (person, sid) => {
          expect(sessionRef(person, sid).split('.')).toHaveLength(2)
          expect(parseSessionRef(sessionRef(person, sid))).toEqual({ person, sid })
        },
      ),
    )
  })

  it.each([
    '',
    's1',
    '.',
    'ada.',
    '.s1',
    'ada.s1.x',
    'ada@acme.example',
    'Ada.s1',
    'ada~40x~2ex.s1',
    '~61da.s1',
    'spent:1:x:s1',
    'ada.s/1',
  ])('is not "%s"', (text) => {
    expect(parseSessionRef(text)).toBeNull()
  })
})
