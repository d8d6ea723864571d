import * as z from 'zod'
import { groupSchema, rowName } from './policy-groups.ts'
import { resolveGroups } from './policy-resolved.ts'
import { vocabularySchema } from './policy-vocabulary.ts'
import { clientId, duration, resourceId, signingAlg, text } from './values.ts'

/** What a client and a resource share: who is let in, and how the token for it looks. */
const audience = {
  display_name: text(80).optional(),
  description: text(200).optional(),
  requires: z.array(z.string()),
  ttl_cap: duration.optional(),
  /** Which held groups its tokens name: all, these, or (absent) those that share a `<scope>:<thing>` with what it requires. A list may name
   * groups, things and families (`emp`, `rung`). */
  groups: z
    .union([z.literal('all'), z.array(z.string())], { error: 'is neither all nor a list of groups, things and families' })
    .optional(),
  /** What stands in place of the colons of group names in its tokens. */
  groups_delimiter: z.string().optional(),
  signing_alg: signingAlg.optional(),
}

export const clientKind = z.enum(['public', 'confidential'])

const client = z.strictObject({
  ...audience,
  kind: clientKind,
  redirects: z.array(z.string()),
  signed_out: z.array(z.string()).default([]),
  /** Where it is told, server to server, that a session ended; and whether it must be told which (Back-Channel Logout 1.0 section 2.2). */
  backchannel_logout_uri: z.string().optional(),
  backchannel_logout_session_required: z.boolean().optional(),
  /** What the signed-out page loads in a frame; and whether it must say which session ended (Front-Channel Logout 1.0 section 2). */
  frontchannel_logout_uri: z.string().optional(),
  frontchannel_logout_session_required: z.boolean().optional(),
  /**
   * A Secrets address: `internal/oidc/clients/<id>` (the secret itself) or `external/oidc/<id>` (an oidc/v1 document). Or the issuer makes one,
   * as such a document.
   */
  secret: z
    .union([z.string(), z.strictObject({ generate: z.literal(true) })], { error: 'is neither an address nor { generate: true }' })
    .optional(),
  /** It may sign people in on a device without a browser (RFC 8628). */
  device: z.boolean().default(false),
  /** The resource it serves: it may introspect access tokens issued for that one. */
  resource: z.string().optional(),
})

const resource = z.strictObject({
  ...audience,
  /** A token for it can change nothing: only then may its sign-ins last longer than everybody's. */
  read_only: z.boolean().optional(),
  absolute_cap: duration.optional(),
})

export const lifetimesSchema = z.strictObject({
  token: duration.default(3_600),
  refresh: duration.default(43_200),
  absolute: duration.default(86_400),
  hold: duration.default(14_400),
})

/** The policy document as it is written: who may have which token. */
export const writtenPolicySchema = z.strictObject({
  version: z.literal(1),
  vocabulary: vocabularySchema.optional(),
  groups: z.record(rowName, groupSchema),
  /**
   * Whether a token names only the groups its audience decides on (`enforce`), all that are held while a line in the log counts those that
   * would go (`report`), or all (`off`).
   */
  groups_scoping: z.enum(['off', 'report', 'enforce']).default('enforce'),
  clients: z.record(clientId, client),
  resources: z.record(resourceId, resource).default({}),
  lifetimes: lifetimesSchema.prefault({}),
  console: z.strictObject({ operators: z.array(z.string()) }).optional(),
})

/** The policy document as what it means: every group under its own name, wildcards and implications carried out. */
export const policySchema = writtenPolicySchema.transform(({ vocabulary, groups, ...policy }) => ({
  ...policy,
  groups: resolveGroups(groups, vocabulary),
}))

export type WrittenPolicy = z.output<typeof writtenPolicySchema>
export type Policy = z.output<typeof policySchema>
export type Group = Policy['groups'][string]
export type Client = Policy['clients'][string]
export type Resource = Policy['resources'][string]

/**
 * `table[name]`, for a name that came from outside: only what the document declares, so that `constructor` is nobody.
 */
export function declared<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
