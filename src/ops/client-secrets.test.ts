import { describe, expect, it } from 'vitest'
import { memorySecrets } from '../adapters/memory/secrets.ts'
import type { AuditEntry } from '../audit/audit.ts'
import { type Policy, policySchema } from '../config/policy.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { createClientSecret } from '../records/client-secret.ts'
import { type ClientCommand, runClients } from './client-secrets.ts'

const START = Date.UTC(2026, 10, 30)
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

function policyOf(clients: Record<string, object>): Policy {
  const rows = Object.entries(clients).map(([id, row]) => [id, { redirects: [], requires: [], ...row }])
  return policySchema.parse({ version: 1, groups: {}, clients: Object.fromEntries(rows) })
}

const policy = policyOf({
  web: { kind: 'confidential', secret: { generate: true } },
  wiki: { kind: 'confidential', secret: { generate: true } },
  seeded: { kind: 'confidential', secret: 'external/oidc/seeded' },
  delivered: { kind: 'confidential', secret: 'internal/oidc/clients/delivered' },
  page: { kind: 'public' },
})

function arrange() {
  let now = START
  const clock = { now: () => now }
  const secrets = memorySecrets({ clock })
  const audited: AuditEntry[] = []
  const parts = { policy, secrets, clock, random, audit: { record: (entry: AuditEntry) => void audited.push(entry) } }
  const sealed: string[] = []
  return {
    ...parts,
    parts,
    audited,
    sealed,
    pass: (seconds: number) => {
      now += seconds * 1_000
    },
    run: (command: ClientCommand) =>
      runClients(command, parts, async (plaintext) => {
        sealed.push(fromUtf8(plaintext) ?? '')
        return 'sealed'
      }),
  }
}

const rotateWeb = { command: 'client.rotate', client: 'web', overlap: 3_600, force: false } as const

function document(client: string): Uint8Array<ArrayBuffer> {
  return utf8(`{"client-id":"${client}","client-secret":"s3cret","schema":"oidc/v1"}`)
}

describe('client.list', () => {
  it('says when each was written, until when the one before is good, and what is wrong with it', async () => {
    const { parts, secrets, run, pass } = arrange()
    await createClientSecret('web', parts)
    pass(60)
    await run(rotateWeb)
    await secrets.put('external/oidc/wiki', document('web'))
    expect(await run({ command: 'client.list' })).toEqual({
      clients: [
        {
          client: 'web',
          path: 'external/oidc/web',
          problem: null,
          written: '2026-11-30T00:01:00.000Z',
          previous_until: '2026-11-30T01:01:00.000Z',
        },
        {
          client: 'wiki',
          path: 'external/oidc/wiki',
          problem: 'its client-id is another client',
          written: '2026-11-30T00:01:00.000Z',
          previous_until: null,
        },
      ],
      orphans: [],
    })
    pass(3_600)
    expect(await run({ command: 'client.list' })).toMatchObject({ clients: [{ client: 'web', previous_until: null }, {}] })
  })

  it('names what is left of clients that the policy has no more, or not there', async () => {
    const { secrets, run } = arrange()
    for (const id of ['gone', 'delivered', 'seeded', 'u-612f62']) await secrets.put(`external/oidc/${id}`, document(id))
    expect(await run({ command: 'client.list' })).toMatchObject({
      clients: [{ problem: 'there is none yet', written: null }, {}],
      orphans: [
        { client: 'delivered', path: 'external/oidc/delivered' },
        { client: 'gone', path: 'external/oidc/gone' },
        { client: 'a/b', path: 'external/oidc/u-612f62' },
      ],
    })
  })
})

describe('client.rotate', () => {
  it('says until when the one before is good, and nothing of either', async () => {
    const { parts, run, audited, secrets } = arrange()
    await createClientSecret('web', parts)
    const answer = await run(rotateWeb)
    expect(answer).toEqual({ client: 'web', outcome: 'rotated', previous_until: '2026-11-30T01:00:00.000Z' })
    expect(audited).toEqual([{ event: 'client_secret.rotated', client: 'web', by: 'operator' }])
    expect((await secrets.get('external/oidc/web', { previous: true })).previous).toBeDefined()
  })

  it('of none makes one', async () => {
    const { run, audited } = arrange()
    expect(await run(rotateWeb)).toEqual({ client: 'web', outcome: 'made', previous_until: null })
    expect(audited).toEqual([{ event: 'client_secret.created', client: 'web', by: 'operator' }])
  })

  it('within an overlap is refused with what it would end, and forced is not', async () => {
    const { parts, run, audited } = arrange()
    await createClientSecret('web', parts)
    await run(rotateWeb)
    await expect(run(rotateWeb)).rejects.toMatchObject({
      status: 409,
      code: 'overlap_running',
      message:
        'the secret of web was rotated at 2026-11-30T00:00:00.000Z, and the one before is good until 2026-11-30T01:00:00.000Z. Rotating now ends that one at once: whoever still uses it is refused. Wait, or force it',
    })
    expect(audited).toHaveLength(1)
    expect(await run({ ...rotateWeb, force: true })).toMatchObject({ outcome: 'rotated' })
  })
})

describe('client.show', () => {
  it('seals the secret of now, made where there is none, and says it nowhere else', async () => {
    const { run, sealed, audited, secrets } = arrange()
    expect(await run({ command: 'client.show', client: 'web' })).toEqual({ client: 'web', sealed: 'sealed' })
    const [secret = ''] = sealed
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(fromUtf8((await secrets.get('external/oidc/web')).value)).toContain(`"client-secret":"${secret}"`)
    expect(audited).toEqual([{ event: 'client_secret.created', client: 'web', by: 'operator' }])
    await run({ command: 'client.show', client: 'web' })
    expect(sealed).toEqual([secret, secret])
    expect(audited).toHaveLength(1)
  })
})

describe('client.purge', () => {
  it('deletes what is left of a client, and nothing else', async () => {
    const { run, secrets, audited } = arrange()
    for (const id of ['gone', 'gone2', 'delivered']) await secrets.put(`external/oidc/${id}`, document(id))
    expect(await run({ command: 'client.purge', client: 'gone' })).toEqual({ client: 'gone', purged: ['external/oidc/gone'] })
    expect(await run({ command: 'client.purge', client: 'delivered' })).toMatchObject({ purged: ['external/oidc/delivered'] })
    expect(await secrets.list('')).toEqual(['external/oidc/gone2'])
    expect(audited.map(({ event }) => event)).toEqual(['client_secret.purged', 'client_secret.purged'])
  })

  it.each([
    ['web', 422, 'still_has_one'],
    ['seeded', 422, 'still_has_one'],
    ['nobody', 404, 'unknown_client'],
    ['page', 404, 'unknown_client'],
    ['../clients/delivered', 404, 'unknown_client'],
    ['constructor', 404, 'unknown_client'],
  ])('of %s is refused, and deletes nothing', async (client, status, code) => {
    const { run, secrets, audited } = arrange()
    for (const path of ['external/oidc/web', 'external/oidc/seeded']) await secrets.put(path, document('x'))
    await secrets.put('internal/oidc/clients/delivered', utf8('x'))
    await expect(run({ command: 'client.purge', client })).rejects.toMatchObject({ status, code })
    expect(await secrets.list('')).toHaveLength(3)
    expect(audited).toEqual([])
  })
})

describe('a client without a generated secret', () => {
  it.each([
    ['nobody', 404, /^there is no client nobody/],
    ['constructor', 404, /^there is no client/],
    ['page', 422, /is public and has none/],
    ['delivered', 422, /names a secret of its own, internal\/oidc\/clients\/delivered/],
    ['seeded', 422, /names a secret of its own/],
  ])('%s is neither rotated nor shown', async (client, status, words) => {
    const { run, sealed, secrets } = arrange()
    await secrets.put('external/oidc/seeded', document('seeded'))
    for (const command of [{ ...rotateWeb, client }, { command: 'client.show', client } as const]) {
      await expect(run(command)).rejects.toMatchObject({ status, message: expect.stringMatching(words) })
    }
    expect(sealed).toEqual([])
    expect(await secrets.list('')).toEqual(['external/oidc/seeded'])
  })

  it('whose document is none is neither, and it says how to mend it', async () => {
    const { run, secrets, sealed } = arrange()
    await secrets.put('external/oidc/web', utf8('{"client-secret":"s3cret"'))
    for (const command of [{ ...rotateWeb, force: true }, { command: 'client.show', client: 'web' } as const]) {
      const refused = await run(command).catch((error: unknown) => error)
      expect(refused).toMatchObject({
        status: 422,
        code: 'not_its_secret',
        message: expect.stringMatching(/npm run seed -- external\/oidc\/web$/),
      })
      expect(String(refused)).not.toContain('s3cret')
    }
    expect(sealed).toEqual([])
  })
})
