import { describe, expect, it } from 'vitest'
import { bytes, clock, random } from '../../../test/conformance/arrange.ts'
import { MINUTE } from '../../../test/conformance/state/subject.ts'
import type { Module } from '../../ports/layout5.ts'
import type { Rev } from '../../ports/state.ts'
import { fakeTables } from './fake-tables.ts'
import { peerState } from './peer-state.ts'
import { dynamodbState } from './state.ts'

async function arrange() {
  const client = fakeTables()
  const open = (module: Module, peers: Module[] = []) => dynamodbState({ client, instance: 'acme', module, clock, random, peers })
  const rev = await open('github').put('gh.org.acme', bytes('{}'), 'permanent')
  await open('github').put('lease.tick:all', bytes('theirs'), MINUTE)
  await open('oidc').put('lease.tick:all', bytes('ours'), MINUTE)
  client.calls.length = 0
  const tables = () => client.calls.map(({ operation, input }) => `${operation} ${input.TableName}`)
  return { client, rev, tables, oidc: open('oidc', ['github', 'google', 'slack']) }
}

describe('peers', () => {
  it("a granted peer's records are read in its table and no other", async () => {
    const { oidc, rev, tables } = await arrange()
    expect(await oidc.get('gh.org.acme')).toEqual({ key: 'gh.org.acme', value: bytes('{}'), rev })
    expect((await oidc.list('gh.org.')).entries.map(({ key }) => key)).toEqual(['gh.org.acme'])
    expect((await oidc.list('app.gh.')).entries).toEqual([])
    expect(tables()).toEqual(['GetItem sluis-acme-github', 'Query sluis-acme-github', 'Scan sluis-acme-github'])
  })

  it('a module that was not granted is absent, with nothing asked', async () => {
    const { oidc, tables } = await arrange()
    expect(await oidc.get('rec.backup.retention')).toBeNull()
    expect(await oidc.list('rec.backup.run.')).toEqual({ entries: [] })
    expect(tables()).toEqual([])
  })

  it("a key of no module, and a prefix of several, are of the module's own table", async () => {
    const { oidc, tables } = await arrange()
    expect((await oidc.get('lease.tick:all'))?.value).toEqual(bytes('ours'))
    await oidc.list('')
    expect(new Set(tables().map((call) => call.split(' ')[1]))).toEqual(new Set(['sluis-acme-oidc']))
  })

  it("a peer's record is written by nobody here, watched by nobody and exported by nobody, with nothing asked", async () => {
    const { oidc, tables } = await arrange()
    const writes = [
      () => oidc.put('gh.org.acme', bytes('x'), 'permanent'),
      () => oidc.create('gh.org.other', bytes('x'), 'permanent'),
      () => oidc.update('gh.org.acme', bytes('x'), 'permanent', '7' as Rev),
      () => oidc.delete('gh.org.acme'),
      () => oidc.deleteIfRevision('gh.org.acme', '7' as Rev),
    ]
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: 'NotOwner' })
    expect(await oidc.peekRevision('gh.org.acme')).toBeNull()
    for await (const entry of oidc.export('gh.org.')) expect(entry).toBeUndefined()
    expect(tables()).toEqual([])
  })

  it("a peer's own view reads its table, the kinds of no module too, and has nothing to write with", async () => {
    const { client, rev } = await arrange()
    const github = peerState({ client, instance: 'acme', peer: 'github', clock })
    expect(Object.keys(github)).toEqual(['get', 'list'])
    expect(await github.get('gh.org.acme')).toMatchObject({ rev })
    expect((await github.get('lease.tick:all'))?.value).toEqual(bytes('theirs'))
    expect(await github.get('tok.a')).toBeNull()
    expect(new Set(client.calls.map(({ input }) => input.TableName))).toEqual(new Set(['sluis-acme-github']))
  })
})
