import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OpsCommand } from './ops-client.ts'
import { workspace } from './workspace.ts'

const OPS_KEY = 'b3BzLWtleS1vZi10aGUtdGVzdHMtMzItYnl0ZXMuLi4'

/** The command against an issuer that answers so. */
async function run(args: string[], answer: Record<string, unknown> = {}) {
  const asked: OpsCommand[] = []
  process.env.OPS_KEY = OPS_KEY
  const { build } = await import('./build.ts')
  const words = await workspace(
    args,
    async () => (await build()).documents,
    async (_, command) => {
      asked.push(command)
      return answer
    },
  )
  return { words, asked }
}

const SHOWN = { workspace: 'C01acme', admin: 'root@acme.example', domains: ['acme.example'], serve: [], sync_groups: [] }

describe('npm run workspace', () => {
  it('sends the key file as it is, and the domains and groups that were named', async () => {
    const key = join(tmpdir(), `sluis-key-${process.pid}.json`)
    await writeFile(key, '{"type":"service_account"}')
    const args = ['connect', '--key', key, '--admin', 'root@acme.example', '--serve', 'all', '--groups', 'a@acme.example, b@acme.example']
    const { asked, words } = await run(args, { ...SHOWN, outcome: 'connected' })
    expect(asked).toEqual([
      {
        command: 'workspace.connect',
        key: '{"type":"service_account"}',
        admin: 'root@acme.example',
        serve: [],
        sync_groups: ['a@acme.example', 'b@acme.example'],
      },
    ])
    expect(words).toContain('connected Workspace C01acme')
    expect(words).not.toContain('service_account')
  })

  it('says of each Workspace when it was read, and what keeps it from being trusted', async () => {
    const fine = { ...SHOWN, contested: [], read_at: '2026-11-30T19:24:23.000Z', people: 12, groups: 3, probe: { ok: true, reason: null } }
    const ill = { ...fine, workspace: 'C02', read_at: null, contested: ['acme.example'], probe: { ok: false, reason: 'refused' } }
    const { words } = await run(['list'], { workspaces: [fine, ill] })
    expect(words.split('\n')).toHaveLength(4)
    expect(words).toContain('12 people and 3 groups')
    expect(words).toContain('not read yet')
    expect((await run(['list'], { workspaces: [] })).words).toBe('no Workspace is connected')
  })

  it('forgets nothing before it is told that it is meant', async () => {
    expect((await run(['disconnect', 'C01acme'])).asked).toEqual([])
    expect((await run(['disconnect', 'C01acme', '--yes'], { workspace: 'C01acme' })).asked).toEqual([
      { command: 'workspace.disconnect', workspace: 'C01acme' },
    ])
  })

  it.each([
    [[]],
    [['forget']],
    [['probe']],
    [['list', 'C01acme']],
    [['connect']],
    [['connect', '--key', 'nowhere', '--admin', 'a@b.example']],
    [['list', '--loud']],
  ])('refuses %j in words', async (args) => {
    await expect(run(args)).rejects.toMatchObject({ name: 'CommandError' })
  })

  it('refuses an answer that it does not know', async () => {
    await expect(run(['probe', 'C01acme'], { workspace: 7 })).rejects.toMatchObject({ name: 'CommandError' })
  })
})
