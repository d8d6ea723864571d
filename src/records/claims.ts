import * as z from 'zod'

/** Which claims a `claims` parameter asks for, by where they go (OpenID Connect Core section 5.5). */
export const askedClaims = z.looseObject({
  id_token: z.array(z.string()).optional().describe('claims asked for in the ID token'),
  userinfo: z.array(z.string()).optional().describe('claims asked for at userinfo'),
})
export type AskedClaims = z.output<typeof askedClaims>

/** A person's names as the directory gave them when they were proved. */
export const names = {
  given_name: z.string().optional().describe('given name, when the directory has one'),
  family_name: z.string().optional().describe('family name, when the directory has one'),
}
