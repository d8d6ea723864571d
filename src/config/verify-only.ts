import * as z from 'zod'
import { type Problem, parts } from './problems.ts'
import { misfit, publicKey, verifiableAlg } from './public-key.ts'

const DATE_TIME = 'is no date and time like 2027-01-31T12:00:00Z'
const KID = 'is not 1 to 200 printable characters without spaces'

/** A public key of somebody else's making: published and accepted until an instant, and never signed with. */
export const verifyOnlyKey = z
  .strictObject({
    kid: z.string().regex(/^[!-~]{1,200}$/, KID),
    alg: verifiableAlg,
    /** RFC 3339 as written, unix seconds as read. */
    until: z.iso.datetime({ offset: true, error: DATE_TIME }).transform((text) => Math.floor(Date.parse(text) / 1_000)),
    jwk: publicKey,
  })
  .superRefine(({ kid, alg, jwk }, context) => {
    const problems = {
      jwk: misfit(alg, jwk),
      kid: jwk.kid === undefined || jwk.kid === kid ? null : `is not the kid of its jwk, ${jwk.kid}`,
      alg: jwk.alg === undefined || jwk.alg === alg ? null : `is not the alg of its jwk, ${jwk.alg}`,
    }
    for (const [name, message] of Object.entries(problems))
      if (message !== null) context.addIssue({ code: 'custom', path: [name], message })
  })
export type VerifyOnlyKey = z.output<typeof verifyOnlyKey>

/** A kid that two keys share: who has a token could not tell which is meant. */
export function verifyOnlyProblems(keys: unknown): Problem[] {
  const seen = new Map<string, number>()
  return parts(z.looseObject({ kid: z.string() }), keys).flatMap(([at, { kid }]) => {
    const first = seen.get(kid)
    if (first === undefined) seen.set(kid, at)
    return first === undefined ? [] : [{ path: ['keyring', 'verify_only', at, 'kid'], message: `is the kid of verify_only[${first}] too` }]
  })
}

/** Keys whose time is over: no error, because nobody deploys on the day one ends. `now` in unix seconds. */
export function verifyOnlyWarnings(keys: readonly VerifyOnlyKey[], now: number): Problem[] {
  return keys.flatMap(({ until }, at) =>
    until > now ? [] : [{ path: ['keyring', 'verify_only', at, 'until'], message: 'is over: the key is published no more, and can go' }],
  )
}
