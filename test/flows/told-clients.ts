import { createLocalJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import type { Fetch } from '../../src/ports/platform.ts'
import type { TestService, TestStore } from './harness.ts'

/** A logout token as a client takes it. */
export interface Told {
  client: string
  sub: string
  sid: string
  jti: string
  alg: string
}

/** Applications with a back-channel address: what reached them, and how they answer. */
export interface Applications {
  outside: Fetch
  /** Every token that was posted and that its client accepted with a 2xx. */
  told: Told[]
  /** Every token that was posted. */
  asked: Told[]
  /** What the next answers are: a status, or no answer before the issuer gives up. 200 when nothing is said. */
  answers(next: (client: string) => number | 'silence'): void
}

/** Gives clients of a store's policy an address each. */
export function tellable(ids: readonly string[]): (documents: TestStore['documents']) => void {
  return ({ policy }) => {
    for (const id of ids) Object.assign(policy.clients[id] ?? {}, { backchannel_logout_uri: addressOf(id) })
  }
}

function addressOf(client: string): string {
  return `http://localhost:3999/told/${client}`
}

/** Verifies each token as OpenID Connect Back-Channel Logout 1.0 section 2.6 says, with the keys that the issuer publishes. */
export function applications(issuer: () => TestService): Applications {
  const told: Told[] = []
  const asked: Told[] = []
  let next: (client: string) => number | 'silence' = () => 200

  return {
    told,
    asked,
    answers(how) {
      next = how
    },
    async outside(input, init) {
      const client = new URL(input instanceof Request ? input.url : input).pathname.split('/').at(-1) ?? ''
      const token = await verified(new URLSearchParams(String(init?.body)).get('logout_token') ?? '', client, issuer())
      asked.push(token)
      const answer = next(client)
      if (answer === 'silence') return untilAborted(init?.signal)
      if (answer >= 200 && answer < 300) told.push(token)
      return new Response(null, { status: answer })
    },
  }
}

async function verified(token: string, client: string, service: TestService): Promise<Told> {
  const keys = createLocalJWKSet(await (await service.fetch('/keys')).json())
  const currentDate = new Date(service.services.issuer.clock.now())
  const { payload } = await jwtVerify(token, keys, { issuer: service.url, audience: client, typ: 'logout+jwt', currentDate })
  const { sub = '', sid = '', jti = '', iat = 0, exp = 0 } = payload as JWTPayload & { sid?: string }
  const events = payload.events as Record<string, unknown> | undefined
  if (JSON.stringify(events) !== '{"http://schemas.openid.net/event/backchannel-logout":{}}') throw new Error('no logout event')
  if ('nonce' in payload || exp - iat !== 120 || typeof payload.aud !== 'string')
    throw new Error(`no logout token: ${JSON.stringify(payload)}`)
  return { client, sub, sid, jti, alg: decodeProtectedHeader(token).alg ?? '' }
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))))
}
