import * as z from 'zod'
import { invalidRequest, OAuthError } from '../../../http/oauth-error.ts'
import { personId } from '../../../ports/keys.ts'
import { personClaims } from '../../claims.ts'
import type { Check } from '../check.ts'

const wish = z.nullable(
  z.looseObject({ essential: z.boolean().optional(), value: z.unknown().optional(), values: z.array(z.unknown()).optional() }),
)
const claimsParameter = z.looseObject({
  userinfo: z.record(z.string(), wish).nullish(),
  id_token: z.record(z.string(), wish).nullish(),
})

/**
 * OpenID Connect Core section 5.5. Claims asked for by name are asserted where they were asked for, when there is a value; a `sub` asked for
 * by value is the one person who may complete the request; an essential `acr` that can't be met is refused (section 5.5.1.1).
 */
export const claims: Check = ({ parameters }, { acrValues }) => {
  const asked = parameters.get('claims')
  if (asked === undefined) return {}
  const parsed = claimsParameter.safeParse(parseJson(asked))
  if (!parsed.success)
    throw invalidRequest(`claims is not a claims request: ${parsed.error.issues[0]?.path[0]?.toString() ?? 'no JSON object'}`)
  const { id_token: inIdToken, userinfo } = parsed.data
  const acr = inIdToken?.acr
  const needed = acr?.essential === true ? wantedAcr(acr) : []
  if (needed.length > 0 && !acrValues.some((value) => needed.includes(value))) {
    throw new OAuthError('unmet_authentication_requirements', `no sign-in here reaches the acr asked for: ${acrValues.join(', ')}`)
  }
  const subject = inIdToken?.sub?.value
  return {
    claims: {
      id_token: known(inIdToken),
      userinfo: known(userinfo),
      ...(needed.length > 0 ? { acr: acrValues.filter((value) => needed.includes(value)) } : {}),
    },
    ...(typeof subject === 'string' ? { hint_subject: personId(subject) } : {}),
  }
}

function wantedAcr({ value, values }: { value?: unknown; values?: unknown[] | undefined }): unknown[] {
  return values ?? (value === undefined ? [] : [value])
}

function known(wishes: Record<string, unknown> | null | undefined): string[] {
  return personClaims.filter((name) => wishes !== null && wishes !== undefined && Object.hasOwn(wishes, name))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
