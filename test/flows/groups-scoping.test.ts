import { expect, it } from 'vitest'
import type { Documents } from '../../src/compose.ts'
import { claimsOf, exchange, signIn, startService, TestBrowser, type Tokens, testStore } from './harness.ts'

const API = 'https://api.acme.example/v1'
const EVERY = ['app:backend:user', 'app:console:operator', 'app:demo:user', 'emp:all']

/** The groups of both tokens of a sign-in for the API, and the lines about groups that it left in the log. */
async function minted(groups_scoping: Documents['policy']['groups_scoping']) {
  const service = startService(
    testStore('memory', {
      edit({ policy }) {
        policy.groups_scoping = groups_scoping
        policy.resources[API] = { requires: ['emp:all'] }
      },
    }),
  )
  const code = (await signIn(new TestBrowser(service), { resource: API })).searchParams.get('code') ?? ''
  const answer = await exchange(service, code)
  const { access_token, id_token }: Tokens = await answer.json()
  const lines = service.logs.filter((line) => line.includes('"groups.'))
  return { access: claimsOf(access_token).groups, id: claimsOf(id_token).groups, lines }
}

it('report names every group, and counts for each audience those that enforce would leave out, without a word of whose they are', async () => {
  const { access, id, lines } = await minted('report')
  expect([access, id]).toEqual([EVERY, EVERY])
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'info', event: 'groups.unscoped', client: 'demo', target: API, count: 3 },
    { level: 'info', event: 'groups.unscoped', client: 'demo', target: 'demo', count: 3 },
  ])
  expect(lines.join()).not.toMatch(/ada|app:|emp:/)
})

it('off names every group, enforce those of each audience, and neither has anything to report', async () => {
  expect(await minted('off')).toEqual({ access: EVERY, id: EVERY, lines: [] })
  expect(await minted('enforce')).toEqual({ access: ['emp:all'], id: ['app:demo:user'], lines: [] })
})
