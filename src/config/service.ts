import * as z from 'zod'
import { duration, email, signingAlg } from './values.ts'

const person = z.strictObject({
  email,
  given_name: z.string().optional(),
  family_name: z.string().optional(),
  groups: z.array(email).default([]),
  suspended: z.boolean().default(false),
})

/** The service document: what this installation is. Secrets are never in it: they are addresses. */
export const serviceSchema = z.strictObject({
  version: z.literal(1),
  instance: z.string(),
  issuer: z.string(),
  /** What people read at the top of every page. */
  name: z.string(),
  preset: z.enum(['embedded', 'aws']).default('embedded'),
  plan: z.enum(['free', 'paid']).default('paid'),
  location: z.strictObject({ hint: z.string() }).optional(),
  directory: z.strictObject({ kind: z.literal('local'), people: z.array(person) }),
  signin: z.strictObject({ picker: z.boolean().default(false) }),
  keyring: z
    .strictObject({
      default: signingAlg.default('ES256'),
      rings: z.array(signingAlg).default(['ES256', 'RS256']),
      rotate_every: duration.default(86_400),
      prepublish: duration.default(900),
    })
    .prefault({}),
})

export type Service = z.output<typeof serviceSchema>
export type Person = Service['directory']['people'][number]
