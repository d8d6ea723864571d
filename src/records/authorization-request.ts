import * as z from 'zod'
import { keys } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { askedClaims } from './claims.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

/** seconds: half an hour to find the password manager (seed: keys) */
export const REQUEST_LIFETIME = 1_800

const schema = z.looseObject({
  id: z.string().describe('the request id, as in its key'),
  request: z
    .looseObject({
      client_id: z.string(),
      redirect_uri: z.string(),
      response_mode: z.enum(['query', 'fragment', 'form_post']),
      scopes: z.array(z.string()),
      state: z.string().optional(),
      nonce: z.string().optional(),
      code_challenge: z.string().optional().describe('PKCE challenge; its method is always S256'),
      prompt: z.array(z.string()).optional(),
      max_age: z.number().optional().describe('seconds'),
      login_hint: z.string().optional(),
      claims: askedClaims.optional(),
    })
    .describe('what the client asked, checked'),
  authTime: instant.describe('when the request was made'),
  resource: z.string().optional().describe('the resource asked for (RFC 8707)'),
  own: z.boolean().optional().describe('it is for a page of ours at redirect_uri, and no client'),
  browser: z.string().describe('labelled hash of the browser cookie it is bound to'),
  hint_subject: z
    .string()
    .optional()
    .describe('the one person who may complete it: the subject of id_token_hint or of a `sub` claim asked for'),
})

export const authorizationRequest = {
  key: 'req.a-<id>',
  purpose: 'An authorization request that waits for a person.',
  lifetime: '30 min',
  schema,
} satisfies RecordType<typeof schema>

export type AuthorizationRequest = z.output<typeof schema>

/** @throws PortError Unavailable, Exists (an id drawn twice) */
export function createRequest(state: State, request: AuthorizationRequest): Promise<Rev> {
  return state.create(keys.request(request.id), writeRecord(authorizationRequest, request), REQUEST_LIFETIME)
}

export async function findRequest(state: State, id: string, log: Log): Promise<Found<AuthorizationRequest> | null> {
  const entry = await state.get(keys.request(id))
  const value = readRecord(authorizationRequest, entry, log)
  return entry === null || value === null ? null : { value, entry }
}

/**
 * Takes the request away: of several who complete it at once, one passes.
 * @throws PortError NotFound or Conflict for the others
 */
export function consumeRequest(state: State, request: Found<AuthorizationRequest>): Promise<void> {
  return state.deleteIfRevision(request.entry.key, request.entry.rev)
}
