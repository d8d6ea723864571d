import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Policy, policySchema } from '../config/policy.ts'
import { type Audience, audienceOf } from './admission.ts'
import { absoluteEnd, accessTokenEnd, idTokenEnd, longestToken } from './lifetimes.ts'

const API = 'https://api.acme.example/v1'

interface Shape {
  token?: string
  absolute?: string
  client?: { ttl_cap?: string }
  resource?: { ttl_cap?: string; absolute_cap?: string; read_only?: boolean }
  groups?: Record<string, { lifetime?: string }>
}

function arranged({ token = '1h', absolute = '24h', client = {}, resource, groups = {} }: Shape): { policy: Policy; audience: Audience } {
  const policy = policySchema.parse({
    version: 1,
    groups,
    clients: { app: { kind: 'public', redirects: [], requires: ['a'], ...client } },
    ...(resource === undefined ? {} : { resources: { [API]: { requires: ['a'], ...resource } } }),
    lifetimes: { token, absolute },
  })
  const audience = audienceOf(policy, 'app', resource === undefined ? undefined : API)
  if (audience === null) throw new Error('the audience is declared above')
  return { policy, audience }
}

describe('a token of a sign-in lives', () => {
  const groups = { short: { lifetime: '5m' }, long: { lifetime: '3h' }, plain: {} }
  it.each<[string, Shape, string[], number, [number, number]]>([
    ['the default', {}, [], 0, [3_600, 3_600]],
    ['the default, for a holder of groups that say nothing', { groups }, ['plain'], 0, [3_600, 3_600]],
    ['the shortest of the groups held', { groups }, ['long', 'short', 'plain'], 0, [300, 300]],
    ['longer than the default, where all groups that say something say so', { groups }, ['long', 'plain'], 0, [10_800, 10_800]],
    ['the default, for a group the policy lost', { groups }, ['gone', 'constructor'], 0, [3_600, 3_600]],
    ['at most the client’s cap', { client: { ttl_cap: '10m' } }, [], 0, [600, 600]],
    ['at most the resource’s cap, which an ID token has not', { resource: { ttl_cap: '2m' } }, [], 0, [120, 3_600]],
    ['at most the smaller cap', { client: { ttl_cap: '10m' }, resource: { ttl_cap: '20m' } }, [], 0, [600, 600]],
    ['not past the absolute limit', { absolute: '2h' }, [], 7_000, [200, 200]],
    ['not past the resource’s absolute limit', { resource: { absolute_cap: '90m' } }, [], 5_000, [400, 400]],
    [
      'not past the policy’s, where the resource’s is longer',
      { absolute: '2h', resource: { absolute_cap: '168h' } },
      [],
      7_000,
      [200, 200],
    ],
    [
      'past the policy’s, where the resource’s is longer and its tokens can change nothing',
      { absolute: '2h', resource: { absolute_cap: '3h', read_only: true } },
      [],
      7_300,
      [3_500, 3_500],
    ],
    ['not past the policy’s, where such a resource says none', { absolute: '2h', resource: { read_only: true } }, [], 7_000, [200, 200]],
    ['not past that of such a resource', { resource: { absolute_cap: '1h', read_only: true } }, [], 3_500, [100, 100]],
  ])('%s', (_what, shape, held, age, [access, id]) => {
    const { policy, audience } = arranged(shape)
    const at = { now: 1_000_000 + age, authTime: 1_000_000 }
    expect([accessTokenEnd(policy, audience, held, at) - at.now, idTokenEnd(policy, audience, held, at) - at.now]).toEqual([access, id])
  })

  it('never longer than the longest of the policy, nor past the absolute limit, whatever is held and when', () => {
    const duration = fc.integer({ min: 1, max: 200_000 }).map((seconds) => `${seconds}s`)
    const maybe = fc.option(duration, { nil: undefined })
    const shape = fc.record({
      token: duration,
      absolute: duration,
      ttl_cap: maybe,
      absolute_cap: maybe,
      one: maybe,
      two: maybe,
      age: fc.nat(200_000),
    })
    fc.assert(
      fc.property(shape, ({ token, absolute, ttl_cap, absolute_cap, one, two, age }) => {
        const { policy, audience } = arranged({
          token,
          absolute,
          client: ttl_cap === undefined ? {} : { ttl_cap },
          resource: absolute_cap === undefined ? {} : { absolute_cap },
          groups: { one: one === undefined ? {} : { lifetime: one }, two: two === undefined ? {} : { lifetime: two } },
        })
        const at = { now: age, authTime: 0 }
        for (const end of [accessTokenEnd(policy, audience, ['one', 'two'], at), idTokenEnd(policy, audience, ['one', 'two'], at)]) {
          expect(end).toBeLessThanOrEqual(absoluteEnd(policy, audience, 0))
          expect(end - at.now).toBeLessThanOrEqual(longestToken(policy))
        }
      }),
    )
  })
})

describe('the longest token of a policy', () => {
  it.each<[string, Shape, number]>([
    ['is the default', {}, 3_600],
    ['is the longest lifetime of a group, where that is longer', { groups: { a: { lifetime: '3h' }, b: { lifetime: '1m' } } }, 10_800],
    ['is not shortened by a cap: another client may have none', { client: { ttl_cap: '1m' } }, 3_600],
  ])('%s', (_what, shape, seconds) => {
    expect(longestToken(arranged(shape).policy)).toBe(seconds)
  })
})
