import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

/** OpenID Connect Core section 3.1.2.1. */
export const prompts = ['none', 'login', 'consent', 'select_account'] as const

export const prompt: Check = ({ parameters }) => {
  const asked = parameters.get('prompt')?.split(' ')
  if (asked === undefined) return {}
  const unknown = asked.some((word) => !prompts.some((known) => known === word))
  if (unknown) throw invalidRequest(`prompt must be words of ${prompts.join(', ')}`)
  if (asked.includes('none') && asked.length > 1) throw invalidRequest('prompt none goes with no other prompt')
  return { prompt: asked }
}
