import * as z from 'zod'

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** A duration as people write it (`90s`, `15m`, `12h`, `30d`), in whole seconds above 0. */
export const duration = z
  .string()
  .regex(/^[1-9][0-9]{0,6}[smhd]$/, 'a duration like 90s, 15m, 12h or 30d')
  .transform((text) => Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS])

/** The signing algorithms a ring can have (RFC 7518 section 3.1, RFC 8037 section 3.1). */
export const signingAlg = z.enum(['ES256', 'RS256', 'ES384', 'EdDSA'])
export type SigningAlg = z.output<typeof signingAlg>

/** An address as people type it; identities are lower-cased wherever they are compared. */
export const email = z.string().regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'an address like ada@acme.example')
