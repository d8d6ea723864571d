import { expect, it } from 'vitest'
import { grantedScopes } from './scopes.ts'

it.each<[string, string | undefined, string[]]>([
  ['openid when none was asked for', undefined, ['openid']],
  ['those that were asked for, in an order of ours', 'offline_access email openid', ['openid', 'email', 'offline_access']],
  ['each once', 'openid openid profile openid', ['openid', 'profile']],
  ['none there is not', 'openid address admin', ['openid']],
  ['none in another case', 'OpenID Profile', []],
  ['none of what every object has', 'constructor __proto__', []],
  ['not openid where another was asked for', 'profile', ['profile']],
])('RFC 6749 3.3: the scopes granted are %s', (_what, asked, granted) => {
  expect(grantedScopes(asked)).toEqual(granted)
})
