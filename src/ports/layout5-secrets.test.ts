import { describe, expect, it } from 'vitest'
import { PortError } from './error.ts'
import { secretAddress } from './keys.ts'
import { isInstanceName, secretPath } from './layout5.ts'

describe('a secret of layout v5', () => {
  it.each([
    [secretAddress.stateSecret, 'internal/oidc/state-secret'],
    ['internal/oidc/recovery-password', 'internal/oidc/recovery-password'],
    [secretAddress.recoveryVerifier, 'internal/oidc/recovery-verifier'],
    [secretAddress.conformanceVerifier, 'internal/oidc/conformance-verifier'],
    [secretAddress.consoleSessionKey, 'internal/oidc/console-session-key'],
    [secretAddress.signInClientId('google'), 'internal/oidc/signin/google/client-id'],
    [secretAddress.signInClientSecret('google'), 'internal/oidc/signin/google/client-secret'],
    [secretAddress.client('rp'), 'internal/oidc/clients/rp'],
    [secretAddress.client('ada@acme.example'), 'internal/oidc/clients/u-6164614061636d652e6578616d706c65'],
    [secretAddress.generatedClient('rp'), 'external/oidc/rp'],
    ['credentials/oidc-client/rp/secret', 'external/oidc/rp'],
    ['credentials/google/workspace/C01/r1', 'internal/google/workspaces/C01/key'],
    ['credentials/google/workspace/u-787e374579/r2', 'internal/google/workspaces/u-787e374579/key'],
    ['internal/google/workspaces/C01/key', 'internal/google/workspaces/C01/key'],
    ['credentials/github/app/renovate/r1', 'internal/github/apps/renovate/r1'],
    ['credentials/github/app/link/r1', 'internal/github/apps/link/r1'],
    ['credentials/github/app/runner-stable-acme/r1', 'internal/github/apps/runner-stable-acme/r1'],
    ['credentials/github/link/299386/r1', 'internal/github/links/299386/r1'],
    ['credentials/github/org/acme/r1', 'internal/github/orgs/acme/r1'],
    ['external/github/renovate', 'external/github/renovate'],
    ['external/github/runner-stable-acme', 'external/github/runner-stable-acme'],
    ['credentials/slack/workspace/T1/r1', 'internal/slack/workspaces/T1/r1'],
    ['credentials/slack/app/alerts/r1', 'internal/slack/apps/alerts/r1'],
    ['external/slack/alerts', 'external/slack/alerts'],
    ['credentials/outline/workspace/docs/r1', 'internal/outline/workspaces/docs/r1'],
    ['internal/outline/workspaces/docs/r1', 'internal/outline/workspaces/docs/r1'],
    ['internal/cloudflare/main/minter', 'internal/cloudflare/main/minter'],
    ['internal/cloudflare/minted/p', 'internal/cloudflare/minted/p'],
    ['external/cloudflare/p', 'external/cloudflare/p'],
    ['internal/backup/keys/seal', 'internal/backup/keys/seal'],
    ['internal/backup/r2', 'internal/backup/r2'],
    ['internal/backup/restore-identity', 'internal/backup/restore-identity'],
  ])('at %s is the parameter %s', (path, parameter) => {
    expect(secretPath(path, 'acme')).toBe(`/sluis/acme/${parameter}`)
  })

  it.each(['', '/a', 'a/', 'a//b', 'a/../b', 'a/./b', 'a b', 'a?b', 'a*', 'a~b', 'é'])('is at no such path as "%s"', (path) => {
    expectUnsupported(() => secretPath(path, 'acme'))
  })

  it.each([
    'credentials/other/ws.dir.entra.4b1f/r1',
    'credentials/google/workspace/C01',
    'credentials/google/workspace/C01/r1/r2',
    'credentials/github/team/a/r1',
    'credentials/oidc-client/rp/other',
    'credentials/oidc/console/session-key/r1',
    'internal/oidc',
    'internal/elsewhere/a',
    'external/google/a',
    'external/oidc/a/b',
    'external/oidc',
    'clients/rp/secret',
    'export/oidc/rp',
  ])('has no parameter for %s', (path) => {
    expectUnsupported(() => secretPath(path, 'acme'))
  })

  it('has a name of 1,011 characters at most', () => {
    const root = '/sluis/acme/internal/oidc/'
    const longest = 'x'.repeat(1_011 - root.length)
    expect(secretPath(`internal/oidc/${longest}`, 'acme')).toHaveLength(1_011)
    expectUnsupported(() => secretPath(`internal/oidc/${longest}x`, 'acme'))
  })
})

describe('an instance', () => {
  it.each(['acme', 'dev', 'acme-2'])('may be named %s', (instance) => {
    expect(isInstanceName(instance)).toBe(true)
  })

  it.each(['', 'Acme', 'a_b', 'a/b', 'a.b', 'private', 'export', 'internal', 'external'])('may not be named "%s"', (instance) => {
    expect(isInstanceName(instance)).toBe(false)
    expectUnsupported(() => secretPath('internal/oidc/state-secret', instance))
  })
})

function expectUnsupported(act: () => unknown): void {
  expect(act).toThrow(PortError)
  expect(act).toThrow(expect.objectContaining({ code: 'Unsupported' }))
}
