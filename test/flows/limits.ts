import { limiter, type RateLimitBinding } from '../../src/http/rate-limit.ts'
import type { Limits } from '../../src/issuer/issuer.ts'
import type { TestService } from './harness.ts'

/** A binding as the platform's, that lets through so many of a key until its period has passed. */
export interface CountingBinding extends RateLimitBinding {
  /** Every key it was asked for, in order. */
  readonly keys: string[]
  /** The period has passed. */
  passes(): void
}

export function allowing(count: number): CountingBinding {
  const keys: string[] = []
  let counted = new Map<string, number>()
  return {
    keys,
    passes() {
      counted = new Map()
    },
    async limit({ key }) {
      keys.push(key)
      counted.set(key, (counted.get(key) ?? 0) + 1)
      return { success: (counted.get(key) ?? 0) <= count }
    },
  }
}

const periods: Record<keyof Limits, number> = { token: 60, userCode: 60, signIn: 60, devicePoll: 10 } // s

/** Puts a binding behind one of the service's limiters. */
export function limit(service: TestService, name: keyof Limits, binding: RateLimitBinding): void {
  const { issuer } = service.services
  issuer.limits = { ...issuer.limits, [name]: limiter(name, binding, periods[name], issuer.log) }
}
