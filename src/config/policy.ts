import * as z from 'zod'
import { duration, email, signingAlg } from './values.ts'

const matcher = z.union([z.strictObject({ email }), z.strictObject({ email_domain: z.string() })])

const group = z.strictObject({
  description: z.string().optional(),
  /** Directory groups: whoever is in one of them holds this group. */
  members: z.array(email).default([]),
  matchers: z.array(matcher).default([]),
  /** seconds: the longest token a holder gets; the shortest of those held wins. */
  lifetime: duration.optional(),
})

/** What a client and a resource share: who is let in, and how the token for it looks. */
const audience = {
  display_name: z.string().optional(),
  description: z.string().optional(),
  requires: z.array(z.string()),
  ttl_cap: duration.optional(),
  /** Which held groups its tokens name: all, these, or (absent) those that share a `<scope>:<thing>` with what it requires. */
  groups: z.union([z.literal('all'), z.array(z.string())]).optional(),
  groups_delimiter: z.string().optional(),
  signing_alg: signingAlg.optional(),
}

const client = z.strictObject({
  ...audience,
  kind: z.enum(['public', 'confidential']),
  redirects: z.array(z.string()),
  signed_out: z.array(z.string()).default([]),
  /** A Secrets address: `internal/oidc/clients/<id>` (the secret itself) or `external/oidc/<id>` (an oidc/v1 document). */
  secret: z.string().optional(),
})

const resource = z.strictObject({ ...audience, absolute_cap: duration.optional() })

/** The policy document: who may have which token. */
export const policySchema = z.strictObject({
  version: z.literal(1),
  groups: z.record(z.string(), group),
  clients: z.record(z.string(), client),
  resources: z.record(z.string(), resource).default({}),
  lifetimes: z
    .strictObject({
      token: duration.default(3_600),
      refresh: duration.default(43_200),
      absolute: duration.default(86_400),
      hold: duration.default(14_400),
    })
    .prefault({}),
  console: z.strictObject({ operators: z.array(z.string()) }).optional(),
})

export type Policy = z.output<typeof policySchema>
export type Group = Policy['groups'][string]
export type Client = Policy['clients'][string]
export type Resource = Policy['resources'][string]
