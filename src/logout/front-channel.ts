import { declared, type Policy } from '../config/policy.ts'
import type { LogoutTarget } from './store.ts'

/** A session at a client. */
export type FrontChannelTarget = Pick<LogoutTarget, 'client_id' | 'sid'>

export interface FrontChannelParts {
  /** The issuer identifier. */
  url: string
  policy: Policy
}

/** What a page can load in the 3 s before the person is sent on; one browser's applications are a handful */
const MOST_FRAMES = 50

/**
 * The addresses a signed-out page loads in frames, so that each client forgets this browser (OpenID Connect Front-Channel Logout 1.0 section
 * 3): the client's own as the policy has it now, its query as it stands there, with `iss` and `sid` behind it. Both are always said, though
 * section 3 asks it only where the client requires it: the client then knows which session ended, and that we said so.
 *
 * Every client has its first frame before any has its second, so that what is over the limit is of a client that has been told once.
 */
export function frontChannelFrames(targets: readonly FrontChannelTarget[], { url, policy }: FrontChannelParts): string[] {
  const byClient = new Map<string, Set<string>>()
  for (const { client_id, sid } of targets) {
    const address = declared(policy.clients, client_id)?.frontchannel_logout_uri
    if (address === undefined) continue // no longer a client, or no longer told this way
    const frames = byClient.get(client_id) ?? new Set()
    byClient.set(client_id, frames.add(withSession(address, { iss: url, sid })))
  }
  return inTurns([...byClient.values()].map((frames) => [...frames])).slice(0, MOST_FRAMES)
}

/** The query that is there is kept to the byte: written anew, its escapes might not be the client's. */
function withSession(address: string, session: { iss: string; sid: string }): string {
  const joint = address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?'
  return address + joint + new URLSearchParams(session)
}

function inTurns<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1))).flat()
}
