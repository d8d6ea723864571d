import { describe, expect, it } from 'vitest'
import {
  bearerRequired,
  insufficientScope,
  invalidClient,
  invalidGrant,
  invalidRequest,
  invalidToken,
  OAuthError,
  serverError,
  temporarilyUnavailable,
} from './oauth-error.ts'

describe('OAuthError', () => {
  it('is 400 unless its code has a status of its own', () => {
    const statuses = [
      invalidRequest('x'),
      invalidGrant('x'),
      invalidClient('x'),
      invalidToken('x'),
      serverError('x'),
      temporarilyUnavailable(5),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([400, 400, 401, 401, 500, 503])
    expect(new OAuthError('access_denied', 'no').status).toBe(400)
    expect(insufficientScope('x', 'openid').status).toBe(403)
  })

  it('describes itself in the characters RFC 6749 section 5.2 allows only', () => {
    const { description } = invalidRequest('a "b" \\ c\r\nset-cookie: d\u00e9\u0000')
    expect(description).toBe('a ?b? ? c??set-cookie: d??')
    expect(description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/)
  })

  it('tells the scheme to a client that tried Basic, and only to that one', () => {
    expect(invalidClient('x', { basic: true }).headers['www-authenticate']).toMatch(/^Basic realm="/)
    expect(invalidClient('x').headers).toEqual({})
  })

  it('challenges a bearer with its error, unable to break out of the quoted string', () => {
    const challenge = invalidToken('expired", scope="all\r\nx: y').headers['www-authenticate']
    expect(challenge).toBe('Bearer error="invalid_token", error_description="expired?, scope=?all??x: y"')
  })

  it('names the scopes that would do', () => {
    expect(insufficientScope('openid is needed', 'openid').headers['www-authenticate']).toContain(', scope="openid"')
  })

  it('says nothing of a token to a request without one', () => {
    expect(bearerRequired().headers['www-authenticate']).toBe('Bearer')
  })

  it('says when to come back', () => {
    expect(temporarilyUnavailable(5).headers['retry-after']).toBe('5')
  })
})
