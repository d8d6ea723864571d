import { describe, expect, it } from 'vitest'
import { policySchema } from '../config/policy.ts'
import { frontChannelFrames } from './front-channel.ts'

const ISS = 'iss=https%3A%2F%2Fid.acme.example'

function frames(targets: [client: string, sid: string][], addresses: Record<string, string | undefined>) {
  const clients = Object.entries(addresses).map(([id, frontchannel_logout_uri]) => [
    id,
    { kind: 'public', redirects: [], requires: ['emp:all'], frontchannel_logout_uri },
  ])
  const policy = policySchema.parse({ version: 1, groups: { 'emp:all': {} }, clients: Object.fromEntries(clients) })
  return frontChannelFrames(
    targets.map(([client_id, sid]) => ({ client_id, sid })),
    { url: 'https://id.acme.example', policy },
  )
}

describe('a front-channel frame', () => {
  it.each([
    ['https://app.example/out', `https://app.example/out?${ISS}&sid=s1`],
    ['https://app.example/out?', `https://app.example/out?${ISS}&sid=s1`],
    ['https://app.example/out?a=b', `https://app.example/out?a=b&${ISS}&sid=s1`],
    ['https://app.example/out?a=b&', `https://app.example/out?a=b&${ISS}&sid=s1`],
    ['https://app.example/out?a=%20b+c&d=%2f', `https://app.example/out?a=%20b+c&d=%2f&${ISS}&sid=s1`],
  ])('says iss and sid behind the query that is there: %s', (address, frame) => {
    expect(frames([['app', 's1']], { app: address })).toEqual([frame])
  })

  it('is at the address the policy has now, and of no client that has none', () => {
    const targets: [string, string][] = [
      ['app', 's1'],
      ['removed', 's2'],
      ['told-otherwise', 's3'],
      ['constructor', 's4'],
    ]
    const found = frames(targets, { app: 'https://new.example/out', 'told-otherwise': undefined })
    expect(found).toEqual([`https://new.example/out?${ISS}&sid=s1`])
  })

  it('is one for each session, each once', () => {
    const found = frames(
      [
        ['app', 's1'],
        ['app', 's2'],
        ['app', 's1'],
      ],
      { app: 'https://app.example/out' },
    )
    expect(found.map((frame) => new URL(frame).searchParams.get('sid'))).toEqual(['s1', 's2'])
  })

  it('is there for every client, however many sessions another has: fifty in all', () => {
    const many = Array.from({ length: 100 }, (_, n): [string, string] => ['busy', `s${n}`])
    const found = frames([...many, ['quiet', 'q1']], { busy: 'https://busy.example/out', quiet: 'https://quiet.example/out' })
    expect(found).toHaveLength(50)
    expect(found.slice(0, 2).map((frame) => new URL(frame).hostname)).toEqual(['busy.example', 'quiet.example'])
  })

  it('is none where nobody is told this way', () => {
    expect(frames([], {})).toEqual([])
  })
})
