import { fromUtf8 } from '../../src/crypto/bytes.ts'
import { refresh } from '../flows/clients.ts'
import type { TestService } from '../flows/harness.ts'

/** What an attempt to refresh came to; `stopped`: its process died. */
export type Refreshed = { status: number; error?: string; access_token?: string; refresh_token?: string } | 'stopped'

export async function refreshAnswer(answer: Response | 'stopped'): Promise<Refreshed> {
  return answer === 'stopped' ? 'stopped' : { status: answer.status, ...(await answer.json<object>()) }
}

/** Presents a refresh token as clients do: the same one again when told to try later, at most five times. */
export async function refreshAsClientsDo(service: TestService, token: string): Promise<Refreshed> {
  let answer = await refresh(service, token)
  for (let retry = 0; retry < 5 && answer.status === 503; retry++) answer = await refresh(service, token)
  return refreshAnswer(answer)
}

/** The refresh token handed out with an answer. @throws Error: it has none */
export function successorIn(answer: Refreshed): string {
  if (answer === 'stopped' || answer.refresh_token === undefined) throw new Error(`no refresh token: ${JSON.stringify(answer)}`)
  return answer.refresh_token
}

/** The records of refresh tokens that are not spent: how many anybody could refresh with. */
export async function livePointers(service: TestService): Promise<string[]> {
  const { entries, next } = await service.services.issuer.state.list('rt.', { limit: 1_000 })
  if (next !== undefined) throw new Error('one test has over a thousand refresh tokens')
  return entries.filter(({ value }) => fromUtf8(value)?.startsWith('spent:') === false).map(({ key }) => key)
}
