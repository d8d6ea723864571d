import { describe, expect, it } from 'vitest'
import { OAuthError } from './oauth-error.ts'
import { parseParameters, queryParameters } from './parameters.ts'

function refusalOf(act: () => unknown): { code: string; description: string } {
  try {
    act()
  } catch (error) {
    if (error instanceof OAuthError) return { code: error.code, description: error.description }
    throw error
  }
  throw new Error('was not refused')
}

describe('parseParameters', () => {
  it('decodes names and values, with + as a space', () => {
    const parameters = parseParameters('scope=openid+profile&redirect%5Furi=https%3A%2F%2Fa.example%2Fcb%3Fx%3D1&state=a%2Bb=c')
    expect(parameters.get('scope')).toBe('openid profile')
    expect(parameters.get('redirect_uri')).toBe('https://a.example/cb?x=1')
    expect(parameters.get('state')).toBe('a+b=c')
    expect(parameters.names()).toEqual(['scope', 'redirect_uri', 'state'])
  })

  it('treats a parameter without a value as absent, so that it is no repetition either', () => {
    const parameters = parseParameters('state=&nonce&scope=openid&scope=')
    expect(parameters.get('state')).toBeUndefined()
    expect(parameters.get('nonce')).toBeUndefined()
    expect(parameters.get('scope')).toBe('openid')
    expect(parameters.names()).toEqual(['scope'])
  })

  it('takes nothing for nothing', () => {
    expect(parseParameters('').names()).toEqual([])
    expect(parseParameters('&&=&').names()).toEqual([])
  })

  it.each(['__proto__', 'constructor', 'toString'])('does not confuse %s with what objects inherit', (name) => {
    expect(parseParameters('a=1').get(name)).toBeUndefined()
    expect(parseParameters(`${name}=1`).get(name)).toBe('1')
  })

  it('refuses a parameter sent twice, naming it', () => {
    expect(refusalOf(() => parseParameters('client_id=a&state=x&client_id=b'))).toEqual({
      code: 'invalid_request',
      description: 'client_id was sent more than once',
    })
    expect(refusalOf(() => parseParameters('client_id=a&client%5Fid=a')).description).toBe('client_id was sent more than once')
  })

  it('lets resource and audience repeat, in order', () => {
    const parameters = parseParameters('resource=https%3A%2F%2Fa&resource=https%3A%2F%2Fb&audience=c')
    expect(parameters.all('resource')).toEqual(['https://a', 'https://b'])
    expect(parameters.all('audience')).toEqual(['c'])
    expect(parameters.all('absent')).toEqual([])
  })

  it('lets only those repeat that its caller says', () => {
    expect(refusalOf(() => parseParameters('resource=a&resource=b', { repeatable: [] })).description).toBe(
      'resource was sent more than once',
    )
  })

  it('reports what is wrong with single parameters where it is told to, and refuses whoever reads one', () => {
    const text = `state=a&client_id=x&state=b&resource=c&resource=d&nonce=%ff&ui_locales=${'a'.repeat(8_193)}&prompt=%00&%ff=1`
    const parameters = parseParameters(text, { faulty: 'report' })
    expect(parameters.faults().map(({ description }) => description)).toEqual([
      'state was sent more than once',
      'nonce is not percent-encoded UTF-8',
      'ui_locales is longer than 8192 bytes',
      'prompt holds a control character',
      'a parameter name is not percent-encoded UTF-8',
    ])
    expect(parameters.get('client_id')).toBe('x')
    for (const name of ['state', 'nonce', 'prompt']) {
      expect(refusalOf(() => parameters.get(name)).code).toBe('invalid_request')
      expect(refusalOf(() => parameters.require(name)).code).toBe('invalid_request')
    }
  })

  it('names what it requires', () => {
    expect(refusalOf(() => parseParameters('code_verifier=').require('code_verifier'))).toEqual({
      code: 'invalid_request',
      description: 'code_verifier is missing',
    })
  })

  it.each([
    ['a stray percent sign', 'state=100%'],
    ['half an escape', 'state=%4'],
    ['no hex', 'state=%zz'],
    ['a byte that is not UTF-8', 'state=%ff'],
    ['a truncated sequence', 'state=%e2%82'],
    ['an overlong sequence', 'state=%c0%af'],
    ['a surrogate', 'state=%ed%a0%80'],
  ])('refuses %s', (_what, text) => {
    expect(refusalOf(() => parseParameters(text)).description).toBe('state is not percent-encoded UTF-8')
  })

  it.each(['%00', '%0a', '%0D', '%1b', '%7f', '%c2%85', '\u0000'])('refuses the control character %j', (character) => {
    expect(refusalOf(() => parseParameters(`state=a${character}b`)).description).toBe('state holds a control character')
    expect(refusalOf(() => parseParameters(`a${character}b=1`)).description).toBe('a parameter name holds a control character')
  })

  it('takes a value of 8 KiB and no byte more, counted in UTF-8', () => {
    expect(parseParameters(`state=${'a'.repeat(8_192)}`).get('state')).toHaveLength(8_192)
    expect(refusalOf(() => parseParameters(`state=${'a'.repeat(8_193)}`)).description).toBe('state is longer than 8192 bytes')
    expect(refusalOf(() => parseParameters(`state=${'%c3%a9'.repeat(4_097)}`)).description).toBe('state is longer than 8192 bytes')
  })

  it.each(['"'.repeat(200), 'hunter2secretpassword0123456789012345678901', 'Über', 'A'])(
    'repeats no name that is not spelled like a parameter: %s',
    (name) => {
      const { description } = refusalOf(() => parseParameters(`${encodeURIComponent(name)}=1&${encodeURIComponent(name)}=2`))
      expect(description).toBe('a parameter with another name was sent more than once')
    },
  )
})

describe('queryParameters', () => {
  it('reads the query as it was sent', () => {
    const request = new Request('https://issuer.example/authorize?client_id=demo&state=%E2%82%AC')
    expect(queryParameters(request).get('state')).toBe('€')
  })

  it('refuses a malformed query', () => {
    expect(refusalOf(() => queryParameters(new Request('https://issuer.example/authorize?state=%ff'))).code).toBe('invalid_request')
  })
})
