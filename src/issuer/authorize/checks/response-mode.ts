import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Parameters } from '../../../http/parameters.ts'
import type { Check } from '../check.ts'

/** OAuth 2.0 Multiple Response Type Encoding Practices section 2.1, and OAuth 2.0 Form Post Response Mode. */
export const responseModes = ['query', 'fragment', 'form_post'] as const
export type ResponseMode = (typeof responseModes)[number]

export const responseMode: Check = ({ parameters }) => {
  const asked = parameters.get('response_mode')
  if (asked !== undefined && !isMode(asked)) throw invalidRequest(`response_mode must be one of ${responseModes.join(', ')}`)
  return { response_mode: asked ?? 'query' }
}

/** The mode in which even a refusal of the request is answered: the one asked for, when there is such a mode. */
export function answerMode(parameters: Parameters): ResponseMode {
  const asked = readable(parameters, 'response_mode')
  return asked !== undefined && isMode(asked) ? asked : 'query'
}

/** A parameter that a refusal is answered with too: what is wrong with it is no reason to answer nowhere. */
export function readable(parameters: Parameters, name: string): string | undefined {
  try {
    return parameters.get(name)
  } catch {
    return undefined
  }
}

function isMode(text: string): text is ResponseMode {
  return responseModes.some((mode) => mode === text)
}
