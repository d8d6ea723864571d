import { utf8 } from '../crypto/bytes.ts'
import { invalidRequest, OAuthError } from './oauth-error.ts'

/** The parameters of one request, decoded and checked once. A parameter without a value is absent (RFC 6749 section 3.1). */
export interface Parameters {
  get(name: string): string | undefined
  /** @throws OAuthError invalid_request naming the parameter when it is absent */
  require(name: string): string
  /** Every value of a parameter that may repeat, in the order sent; empty when absent. */
  all(name: string): readonly string[]
  /** The names that have a value, in the order first sent. */
  names(): readonly string[]
  /** What is wrong with single parameters, in the order sent; always empty unless the rules say `report`. */
  faults(): readonly OAuthError[]
}

export interface ParameterRules {
  /** Those that may be sent more than once; `resource` (RFC 8707 section 2) and `audience` (RFC 8693 section 2.1) unless said. */
  readonly repeatable?: readonly string[]
  /** What to do with a parameter that is malformed or was sent twice: refuse the request (unless said), or report it, and refuse whoever reads it. */
  readonly faulty?: 'refuse' | 'report'
}

/** bytes: an id_token_hint with many groups fits, and half a body is left for the rest */
const VALUE_LIMIT = 8_192

/**
 * Reads a query (without its `?`) or an `application/x-www-form-urlencoded` body.
 *
 * @throws OAuthError invalid_request: sent twice, malformed percent-encoding, not UTF-8, control characters, or a value over 8 KiB
 */
export function parseParameters(
  text: string,
  { repeatable = ['resource', 'audience'], faulty = 'refuse' }: ParameterRules = {},
): Parameters {
  const values = new Map<string, string[]>()
  const faults = new Map<string, OAuthError>()
  for (const [encodedName, encodedValue] of pairs(text)) {
    let name = '' // until it is decoded, nobody's
    try {
      name = decode(encodedName, 'a parameter name')
      const value = decode(encodedValue, nameable(name))
      const before = values.get(name) ?? []
      if (before.length > 0 && !repeatable.includes(name)) throw invalidRequest(`${nameable(name)} was sent more than once`)
      values.set(name, [...before, value])
    } catch (error) {
      if (faulty === 'refuse' || !(error instanceof OAuthError)) throw error
      faults.set(name, error)
    }
  }
  const get = (name: string) => {
    const fault = faults.get(name)
    if (fault !== undefined) throw fault
    return values.get(name)?.[0]
  }
  return {
    get,
    require(name) {
      const value = get(name)
      if (value === undefined) throw invalidRequest(`${name} is missing`)
      return value
    },
    all: (name) => values.get(name) ?? [],
    names: () => [...values.keys()],
    faults: () => [...faults.values()],
  }
}

/** Names and values as they were sent; one without a value is absent. */
function pairs(text: string): [name: string, value: string][] {
  return text.split('&').flatMap((pair): [string, string][] => {
    const equals = pair.indexOf('=')
    return equals === -1 || equals === pair.length - 1 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)]]
  })
}

/** The parameters of a request's query. The fragment never arrives, and the query of a POST is another thing than its body. */
export function queryParameters(request: Request, rules?: ParameterRules): Parameters {
  return parseParameters(new URL(request.url).search.slice(1), rules)
}

function decode(encoded: string, what: string): string {
  let text: string
  try {
    // throws on a stray `%`, on bytes that are not UTF-8, and on encoded surrogates
    text = decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    throw invalidRequest(`${what} is not percent-encoded UTF-8`)
  }
  if (utf8(text).length > VALUE_LIMIT) throw invalidRequest(`${what} is longer than ${VALUE_LIMIT} bytes`)
  // C0, DEL and C1: no parameter of OAuth or OpenID Connect has a use for them, and logs, headers and terminals do
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) throw invalidRequest(`${what} holds a control character`)
  return text
}

/** A name as an error may repeat it: one that reads like a parameter's. Anything else somebody chose could be a secret in the wrong place. */
function nameable(name: string): string {
  return /^[a-z][a-z0-9_]{0,39}$/.test(name) ? name : 'a parameter with another name'
}
