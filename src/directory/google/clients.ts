import { fromUtf8 } from '../../crypto/bytes.ts'
import { isPortError } from '../../ports/error.ts'
import { secretAddress } from '../../ports/keys.ts'
import type { Clock, Fetch, Random } from '../../ports/platform.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { Workspace } from '../../records/workspace.ts'
import type { TokenCache } from './access-token.ts'
import { type GoogleClient, googleClient } from './client.ts'
import { type Endpoints, GOOGLE } from './endpoints.ts'
import type { Asking } from './exchange.ts'
import { GoogleError, OutOfCalls } from './google-error.ts'
import { KeyError, parseServiceAccount, type ServiceAccount } from './service-account.ts'

/** How one asks, less what is the same for all. */
export type How = Pick<Asking, 'spend' | 'patience' | 'signal'>

/** A client of a connected Workspace, with the key it names. @throws GoogleError refused: there is no key, or none that can be used. PortError Unavailable */
export type ClientMaker = (workspace: Workspace, how: How) => Promise<GoogleClient>

export interface ClientMakerParts {
  secrets: Pick<Secrets, 'get'>
  fetch: Fetch
  clock: Clock
  random: Random
  endpoints?: Endpoints
  wait?: (ms: number) => Promise<void>
}

/** One an isolate, whose access tokens its clients share. */
export function clientMaker({ secrets, endpoints = GOOGLE, ...reach }: ClientMakerParts): ClientMaker {
  const tokens: TokenCache = new Map()
  const keys = new Map<string, { version: string; account: ServiceAccount }>()

  async function accountOf(workspace: Workspace): Promise<ServiceAccount> {
    const address = secretAddress.workspaceKey(workspace)
    try {
      const { value, version } = await secrets.get(address)
      const kept = keys.get(address)
      if (kept?.version === version) return kept.account
      const account = await parseServiceAccount(fromUtf8(value) ?? '', endpoints)
      keys.set(address, { version, account })
      return account
    } catch (error) {
      if (isPortError(error, 'NotFound')) throw new GoogleError('refused', 'the key of this Workspace is not in the secrets')
      if (error instanceof KeyError) throw new GoogleError('refused', error.message)
      throw error
    }
  }

  return async (workspace, how) =>
    googleClient({ ...reach, ...how, endpoints, tokens, identity: { account: await accountOf(workspace), admin: workspace.admin } })
}

/** As a slice may ask: every request is one of its calls, and none is begun when few are left, or no time. */
export function ofSlice(
  { budget, deadline, signal }: { budget: { left(): number; spend(calls: number): void }; deadline: number; signal: AbortSignal },
  clock: Clock,
  reserve: number,
): Pick<How, 'spend' | 'signal'> {
  return {
    signal,
    spend() {
      if (budget.left() <= reserve || clock.now() >= deadline) throw new OutOfCalls()
      budget.spend(1)
    },
  }
}
