import * as z from 'zod'

/** Which claims a `claims` parameter asks for, by where they go (OpenID Connect Core section 5.5). */
export const askedClaims = z.looseObject({
  id_token: z.array(z.string()).optional().describe('claims asked for in the ID token'),
  userinfo: z.array(z.string()).optional().describe('claims asked for at userinfo'),
  acr: z.array(z.string()).optional().describe('the one of these that the sign-in must have reached'),
})
export type AskedClaims = z.output<typeof askedClaims>

/** Whether a sign-in reached what the client could not do without (OpenID Connect Core section 5.5.1.1). */
export function reaches(asked: AskedClaims | undefined, acr: string): boolean {
  return asked?.acr === undefined || asked.acr.includes(acr)
}

/** A person's names as the directory gave them when they were proved. */
export const names = {
  given_name: z.string().optional().describe('given name, when the directory has one'),
  family_name: z.string().optional().describe('family name, when the directory has one'),
}
