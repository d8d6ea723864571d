import { json } from '../http/respond.ts'
import type { StateSecretGuard } from '../keyring/state-secret.ts'
import { isPortError, PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Issuer } from './issuer.ts'

/** What `/readyz` looks at. */
export interface Readiness {
  /** Compares the state secret with its fingerprint. */
  guard: () => Promise<StateSecretGuard>
  stores: readonly StoreCheck[]
}

/** A store that can be looked at by itself, or something about one that somebody should know. */
export type StoreCheck =
  /** What is wrong with it and what to do, in a sentence without an address; null: nothing. */
  | { name: string; problem: () => Promise<string | null> }
  /** What somebody should know of it, though it serves; null: nothing. */
  | { name: string; concern: () => Promise<string | null> }

/** Whether the Worker runs. It asks nothing of the store: restarting it would not bring a store back. */
export function healthz(): Response {
  return json({ status: 'ok' })
}

/**
 * Whether it can serve: the stores answer, every ring has a key that signs, the state secret is the one first seen. 503 when not, saying which
 * and, where the store can tell, what to do. A warning refuses nothing.
 */
export async function readyz(issuer: Issuer, { guard, stores }: Readiness): Promise<Response> {
  const concerns = Promise.all(stores.map((store) => ('concern' in store ? concernOf(store, issuer) : null)))
  const answers = await Promise.all([
    ask('store', async () => void (await issuer.state.get(keys.maintenance)), issuer),
    ask('signing_keys', () => canSign(issuer), issuer),
    ask('state_secret', guard, issuer),
    ...stores.flatMap((store) => ('problem' in store ? [ask(store.name, () => told(store.problem), issuer)] : [])),
  ])
  const checks = Object.fromEntries(answers.map(({ name, says }) => [name, says]))
  const warnings = (await concerns).filter((concern) => concern !== null)
  const ready = answers.every(({ good }) => good)
  const body = { status: ready ? 'ready' : 'not ready', checks, ...(warnings.length > 0 ? { warnings } : {}) }
  return json(body, { status: ready ? 200 : 503 })
}

/** A key set that can be published says nothing of the private halves: whoever has lost the sealer's key finds out when the first signs. */
async function canSign({ keyring, clock }: Issuer): Promise<undefined> {
  await keyring.keySet()
  const iat = Math.floor(clock.now() / 1_000)
  // One after the other, as the rings' first keys are made. What is signed says nothing and goes nowhere.
  for (const alg of keyring.algs) await keyring.sign(alg, 'JWT', { iat, exp: iat + 1 })
}

interface Answer {
  name: string
  says: string
  good: boolean
}

async function concernOf({ name, concern }: Extract<StoreCheck, { concern: unknown }>, issuer: Issuer): Promise<string | null> {
  try {
    const found = await concern()
    return found === null ? null : `${name}: ${found}`
  } catch (error) {
    issuer.log.error('readiness.unavailable', { kind: name, error })
    return `${name}: ${sayingWhy(error)}`
  }
}

async function told(problem: () => Promise<string | null>): Promise<string | undefined> {
  const found = await problem()
  if (found !== null) throw new PortError('Unavailable', found)
  return undefined
}

async function ask(name: string, question: () => Promise<string | undefined>, issuer: Issuer): Promise<Answer> {
  try {
    const says = (await question()) ?? 'ok'
    return { name, says, good: says !== 'changed' }
  } catch (error) {
    issuer.log.error('readiness.unavailable', { kind: name, error })
    return { name, says: sayingWhy(error), good: false }
  }
}

/** Messages of the ports hold no secret and name what an operator named: a table, a parameter, a key. */
function sayingWhy(error: unknown): string {
  return isPortError(error) ? `unavailable: ${error.message}` : 'unavailable'
}
