import * as z from 'zod'
import { globProblem } from './glob.ts'
import { domain, duration, email, text } from './values.ts'

const glob = z.string().superRefine((value, context) => {
  const problem = globProblem(value)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})

const kubernetesName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'is not a name Kubernetes takes: lower-case letters, digits, inner dashes and dots')

const awsName = z.string().regex(/^[\w+=,.@-]{1,64}$/, 'is not a name AWS takes: 1 to 64 letters, digits and _ + = , . @ -')

/** Who is meant, by what they prove themselves with. Several fields of one kind must all fit. */
export const matcherSchemas = {
  email: z.strictObject({ email }),
  email_domain: z.strictObject({ email_domain: domain }),
  /** Whoever signed in by the password of that account. */
  account: z.strictObject({ account: z.enum(['recovery', 'conformance']) }),
  /** Claims of a GitHub Actions ID token, each by a glob. */
  github: z.strictObject({
    github: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'is not the name of a claim: lower-case letters, digits and _'), glob),
  }),
  service_account: z.strictObject({
    service_account: z.strictObject({ namespace: kubernetesName, name: kubernetesName, cluster: kubernetesName.optional() }),
  }),
  aws: z.strictObject({
    aws: z.strictObject({
      account: z.string().regex(/^[0-9]{12}$/, 'is not the number of an AWS account: 12 digits, in quotes'),
      role: awsName,
      /** Of the role, as in `/teams/`. */
      path: z
        .string()
        .regex(/^\/(?:[!-.0-~]+\/)*$/, 'is not a path of a role, like /teams/')
        .optional(),
      /** Of Lambda. */
      function: awsName.optional(),
      org_id: z
        .string()
        .regex(/^o-[a-z0-9]{10,32}$/, 'is not the id of an AWS organization, like o-a1b2c3d4e5')
        .optional(),
    }),
  }),
} as const

const MATCHER = `is none of ${Object.keys(matcherSchemas)
  .map((kind) => `{ ${kind}: ... }`)
  .join(', ')}`

const matcher = z.union(Object.values(matcherSchemas), { error: MATCHER })

export const groupSchema = z.strictObject({
  description: text(200).optional(),
  /** Directory groups: whoever is in one of them holds this group. */
  members: z.array(email).default([]),
  matchers: z.array(matcher).default([]),
  /** seconds: the longest token a holder gets; the shortest of those held wins. */
  lifetime: duration.optional(),
})

/** The name of a row: a group's, or one with a `*` in place of a scope or a thing. */
export const rowName = z
  .string()
  .max(200, 'is longer than 200 characters')
  .regex(
    /^(?:[A-Za-z0-9._/-]+|\*)(?::(?:[A-Za-z0-9._/-]+|\*))*$/,
    'is not a group name: letters, digits, . _ - / in segments joined by colons, or * for one of them',
  )

export type Matcher = z.output<typeof matcher>
export type Row = z.output<typeof groupSchema>
