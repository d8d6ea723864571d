import * as z from 'zod'
import { keys } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type RecordType, readRecord, writeRecord } from './record.ts'

/** The Go service writes `null` for what is empty. */
const texts = z.codec(z.nullable(z.array(z.string())), z.array(z.string()), { decode: (kept) => kept ?? [], encode: (list) => list })
const named = z.record(z.string(), z.unknown())
const values = z.codec(z.nullable(named), named, { decode: (kept) => kept ?? {}, encode: (claims) => claims })

const schema = z.looseObject({
  id: z.string().describe('the jti'),
  subject: z.string(),
  clientID: z.string(),
  audience: texts,
  scopes: texts,
  claims: values.describe('the claims asserted, beside those that a scope or `asked` adds'),
  asked: z.array(z.string()).optional().describe('claims asked for at userinfo by name'),
  expires: instant,
  givenName: z.string().optional(),
  familyName: z.string().optional(),
  session: z.string().optional().describe('the session that stands behind it'),
})

export const token = {
  key: 'tok.<jti>',
  purpose: 'An access token as userinfo, introspection and revocation know it. Never the token.',
  lifetime: 'until the token expires',
  schema,
} satisfies RecordType<typeof schema>

export type Token = z.output<typeof schema>

export function createToken(state: State, value: Token, ttl: number): Promise<Rev> {
  return state.create(keys.token(value.id), writeRecord(token, value), ttl)
}

/** What the Go service left empty is absent. */
export async function findToken(state: State, jti: string, log: Log): Promise<Token | null> {
  const found = readRecord(token, await state.get(keys.token(jti)), log)
  if (found === null) return null
  const { givenName, familyName, session } = found
  return { ...found, givenName: givenName || undefined, familyName: familyName || undefined, session: session || undefined }
}
