import * as z from 'zod'
import type { Audit } from '../audit/audit.ts'
import { declared, type Policy } from '../config/policy.ts'
import { type Bytes, utf8 } from '../crypto/bytes.ts'
import { Refusal } from '../http/refusal.ts'
import { secretAddress, unescapePathSegment } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Secrets } from '../ports/secrets.ts'
import { overlapEnd, rotateClientSecret, standing } from '../records/client-rotation.ts'
import { clientSecretPath, createClientSecret, isGenerated, readClientSecret } from '../records/client-secret.ts'

/** What the commands of generated client secrets work on. */
export interface ClientParts {
  policy: Policy
  secrets: Secrets
  clock: Clock
  random: Random
  audit: Pick<Audit, 'record'>
}

/** Seals what only the operator who asked may read (sealed-answer.ts). */
export type SealAnswer = (plaintext: Bytes) => Promise<string>

export const LONGEST_OVERLAP = 604_800 // s: a week

/**
 * `client.list`; `client.rotate` (`overlap` in seconds, a day when absent; `force` to cut an overlap short); `client.show`; `client.purge`
 * of a secret that no client of the policy has.
 */
export const clientCommands = [
  z.strictObject({ command: z.literal('client.list') }),
  z.strictObject({
    command: z.literal('client.rotate'),
    client: z.string(),
    overlap: z
      .int('is no whole number of seconds')
      .min(0, 'is under 0')
      .max(LONGEST_OVERLAP, `is over ${LONGEST_OVERLAP} (7 days)`)
      .default(86_400),
    force: z.boolean().default(false),
  }),
  z.strictObject({ command: z.literal('client.show'), client: z.string() }),
  z.strictObject({ command: z.literal('client.purge'), client: z.string() }),
] as const

export type ClientCommand = z.output<(typeof clientCommands)[number]>

/** @throws Refusal: in words for the operator. PortError Unavailable */
export async function runClients(asked: ClientCommand, parts: ClientParts, seal: SealAnswer): Promise<Record<string, unknown>> {
  switch (asked.command) {
    case 'client.list':
      return { ...(await listClientSecrets(parts)) }
    case 'client.rotate':
      return rotate(asked, parts)
    case 'client.show':
      return { client: asked.client, sealed: await seal(utf8(await showClientSecret(asked.client, parts))) }
    case 'client.purge':
      return purge(asked.client, parts)
  }
}

/** A generated secret as it stands; what is null is not so. Times are RFC 3339. */
export interface ListedSecret {
  client: string
  path: string
  /** Why it authenticates nobody. */
  problem: string | null
  written: string | null
  /** Until when the secret before it is good too. */
  previous_until: string | null
}

/** What stands below `external/oidc/` though no client of the policy has its secret there. */
export interface Orphan {
  client: string
  path: string
}

/** Every generated client, and the orphans. @throws PortError Unavailable */
export async function listClientSecrets(parts: ClientParts): Promise<{ clients: ListedSecret[]; orphans: Orphan[] }> {
  const generated = Object.entries(parts.policy.clients).filter(([, client]) => isGenerated(client))
  const clients = await Promise.all(generated.map(([id]) => listed(id, parts)))
  return { clients, orphans: await orphansOf(parts) }
}

async function listed(client: string, { secrets, clock }: ClientParts): Promise<ListedSecret> {
  const path = secretAddress.generatedClient(client)
  const kept = await standing(secrets, path)
  if (kept === null) return { client, path, problem: 'there is none yet', written: null, previous_until: null }
  const accepted = readClientSecret(client, path, kept)
  const written = rfc3339(kept.modified)
  if ('problem' in accepted) return { client, path, problem: accepted.problem, written, previous_until: null }
  const until = overlapEnd(accepted, clock)
  return { client, path, problem: null, written, previous_until: until === null ? null : rfc3339(until) }
}

async function orphansOf({ policy, secrets }: ClientParts): Promise<Orphan[]> {
  const taken = new Set(Object.entries(policy.clients).map(([id, client]) => clientSecretPath(id, client)))
  const paths = (await secrets.list('external/oidc')).filter((path) => !taken.has(path))
  return paths.map((path) => ({ client: unescapePathSegment(path.slice('external/oidc/'.length)), path }))
}

async function rotate(
  { client: id, overlap, force }: Extract<ClientCommand, { command: 'client.rotate' }>,
  parts: ClientParts,
): Promise<Record<string, unknown>> {
  checkGenerated(id, parts.policy)
  const rotation = await rotateClientSecret(id, { overlap: overlap * 1_000, force }, parts)
  switch (rotation.outcome) {
    case 'rotated':
      parts.audit.record({ event: 'client_secret.rotated', client: id, by: 'operator' })
      return { client: id, outcome: 'rotated', previous_until: rfc3339(rotation.previousUntil) }
    case 'made':
      parts.audit.record({ event: 'client_secret.created', client: id, by: 'operator' })
      return { client: id, outcome: 'made', previous_until: null }
    case 'overlapping': {
      const [at, until] = [rfc3339(rotation.rotatedAt), rfc3339(rotation.previousUntil)]
      throw refusal(
        409,
        'overlap_running',
        `the secret of ${id} was rotated at ${at}, and the one before is good until ${until}. Rotating now ends that one at once: whoever still uses it is refused. Wait, or force it`,
      )
    }
    case 'unreadable':
      throw unreadable(id, rotation.problem)
    case 'overtaken':
      throw refusal(409, 'changed_meanwhile', `the secret of ${id} was written by another at the same time: list, then decide again`)
  }
}

/** The secret in the clear: for who seals it, or reads the store with credentials of their own. Made where there is none yet. @throws Refusal, PortError Unavailable */
export async function showClientSecret(id: string, parts: ClientParts): Promise<string> {
  checkGenerated(id, parts.policy)
  const path = secretAddress.generatedClient(id)
  let kept = await standing(parts.secrets, path)
  if (kept === null) {
    if ((await createClientSecret(id, parts)) === 'made') parts.audit.record({ event: 'client_secret.created', client: id, by: 'operator' })
    kept = await standing(parts.secrets, path)
  }
  if (kept === null) throw refusal(409, 'changed_meanwhile', `the secret of ${id} was deleted by another at the same time: try again`)
  const accepted = readClientSecret(id, path, kept)
  if ('problem' in accepted) throw unreadable(id, accepted.problem)
  return accepted.current
}

async function purge(id: string, parts: ClientParts): Promise<Record<string, unknown>> {
  const { policy, secrets, audit } = parts
  const client = declared(policy.clients, id)
  if (client !== undefined && clientSecretPath(id, client)?.startsWith('external/') === true)
    throw refusal(
      422,
      'still_has_one',
      `client ${id} still has its secret there: take its row out of the policy, or its secret, and deploy that first`,
    )
  const orphans = (await orphansOf(parts)).filter((orphan) => orphan.client === id)
  if (orphans.length === 0) throw refusal(404, 'unknown_client', `nothing of a client ${id} is left below external/oidc/`)
  for (const { path } of orphans) await secrets.delete(path)
  audit.record({ event: 'client_secret.purged', client: id, by: 'operator' })
  return { client: id, purged: orphans.map(({ path }) => path) }
}

function checkGenerated(id: string, policy: Policy): void {
  const client = declared(policy.clients, id)
  if (client === undefined) throw refusal(404, 'unknown_client', `there is no client ${id} in the policy`)
  if (isGenerated(client)) return
  const names = client.secret === undefined ? 'is public and has none' : `names a secret of its own, ${clientSecretPath(id, client)}`
  throw refusal(422, 'not_generated', `the secret of ${id} is not generated: its row ${names}`)
}

function unreadable(id: string, problem: string): Refusal {
  const path = secretAddress.generatedClient(id)
  return refusal(
    422,
    'not_its_secret',
    `what stands at ${path} is no secret of ${id}: ${problem}. It is never replaced by the issuer: look at it, then npm run seed -- ${path}`,
  )
}

function refusal(status: number, code: string, description: string): Refusal {
  return new Refusal(status, { code, description, title: 'Not carried out', advice: 'docs/operate.md, "Secrets".' })
}

function rfc3339(ms: number): string {
  return new Date(ms).toISOString()
}
