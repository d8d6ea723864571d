import type { Log } from '../telemetry/log.ts'
import { Refusal } from './refusal.ts'

/** What the platform's rate limit binding does. */
export interface RateLimitBinding {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/** A brake on one thing: `allows` says whether this key may go on. Per location, and so no guarantee. */
export interface Limiter {
  allows(key: string): Promise<boolean>
  /** seconds: what the binding counts over, and so what to wait */
  period: number
}

/** A limiter that can't be reached does not stop anybody: it is there against guessing, and signing in must not rest on it. */
export function limiter(name: string, binding: RateLimitBinding | undefined, period: number, log: Log): Limiter {
  return {
    period,
    async allows(key) {
      if (binding === undefined) return true
      try {
        return (await binding.limit({ key })).success
      } catch (error) {
        log.warn('rate_limit.unreachable', { kind: name, error })
        return true
      }
    },
  }
}

/** A limiter that allows everything: where there is no binding. */
export const unlimited: Limiter = { allows: () => Promise.resolve(true), period: 60 }

/** @throws Refusal 429 with Retry-After when the limiter has had enough of this key */
export async function brake({ allows, period }: Limiter, key: string): Promise<void> {
  if (await allows(key)) return
  throw new Refusal(429, {
    code: 'too_many_requests',
    description: 'Too many attempts in a short time.',
    title: 'Too many attempts',
    advice: `Wait ${period} seconds and try again.`,
    headers: { 'retry-after': String(period) },
  })
}

/** Who is asking, as limiters count them: the address the platform saw, an IPv6 one by its /64, which is what one network is given. */
export function clientAddress(request: Request): string {
  const address = request.headers.get('cf-connecting-ip') ?? 'unknown'
  return address.includes(':') ? network64(address) : address
}

function network64(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const before = head.split(':').filter(Boolean)
  const after = tail?.split(':').filter(Boolean) ?? []
  const zeros = tail === undefined ? 0 : Math.max(8 - before.length - after.length, 0)
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4)
  return groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')
}
