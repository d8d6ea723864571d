import * as z from 'zod'
import { type Service, services } from './call.ts'

const oneIn = z.number().int().nonnegative()

const ratesSchema = z.object({
  /** Refuse one call in this many as throttled, nothing done; 0: none. */
  throttle: oneIn,
  /** Answer one call in this many with a 5xx, nothing done. */
  fail: oneIn,
  /** Carry out one call in this many and cut the connection instead of answering. */
  dropAnswer: oneIn,
  /** Cut the connection of one call in this many, nothing done. */
  dropRequest: oneIn,
  /** ms every call waits before anything is done */
  delay: z.number().nonnegative(),
})
export type Rates = z.infer<typeof ratesSchema>

const nextSchema = z.object({
  service: z.enum(services),
  /** Absent: any. */
  operation: z.string().optional(),
  /** How many calls it takes; 1 when absent. */
  times: z.number().int().positive().optional(),
  /** How many matching calls it lets pass first. */
  after: z.number().int().nonnegative().optional(),
  fault: z.union([
    z.enum(['throttle', 'fail', 'dropAnswer', 'dropRequest']),
    /** A refusal of the service: `type` as its clients know it, without a namespace. */
    z.object({ type: z.string(), status: z.number().int(), message: z.string().optional() }),
  ]),
})
/** What becomes of the next calls that match. */
export type NextFault = z.infer<typeof nextSchema>

export const faultSettings = z.strictObject({
  /** Draws repeat from here. */
  seed: z.number().int().optional(),
  /** ms that the emulator's clock is ahead of the machine's */
  clockOffset: z.number().optional(),
  all: ratesSchema.partial().optional(),
  dynamodb: ratesSchema.partial().optional(),
  ssm: ratesSchema.partial().optional(),
  kms: ratesSchema.partial().optional(),
  s3: ratesSchema.partial().optional(),
  next: z.array(nextSchema).optional(),
})
/** Each rate named replaces the one that stood; `all` is set before a service's own; `next` is added to those still waiting. */
export type FaultSettings = z.infer<typeof faultSettings>

export type Fault = NextFault['fault']

export interface Faults {
  /** ms that the emulator's clock is ahead of the machine's */
  clockOffset: number
  set(settings: FaultSettings): void
  /** No faults, no offset, and the draws from the start. */
  clear(): void
}

export interface FaultPlan extends Faults {
  delay(service: Service): number
  /** What becomes of this call, null when nothing does; draws, so one question a call. */
  draw(service: Service, operation: string): Fault | null
}

export function faultPlan(): FaultPlan {
  const rates = { dynamodb: noRates(), ssm: noRates(), kms: noRates(), s3: noRates() }
  let waiting: { next: NextFault; left: number; skip: number }[] = []
  let random = seeded(1)

  function nextFor(service: Service, operation: string): Fault | null {
    for (const entry of waiting) {
      if (entry.next.service !== service || (entry.next.operation ?? operation) !== operation) continue
      if (entry.skip > 0) {
        entry.skip -= 1
        continue
      }
      entry.left -= 1
      waiting = waiting.filter((other) => other.left > 0)
      return entry.next.fault
    }
    return null
  }

  const plan: FaultPlan = {
    clockOffset: 0,
    set(settings) {
      if (settings.seed !== undefined) random = seeded(settings.seed)
      if (settings.clockOffset !== undefined) plan.clockOffset = settings.clockOffset
      for (const service of services) Object.assign(rates[service], settings.all, settings[service])
      for (const next of settings.next ?? []) waiting.push({ next, left: next.times ?? 1, skip: next.after ?? 0 })
    },
    clear() {
      plan.clockOffset = 0
      for (const service of services) rates[service] = noRates()
      waiting = []
      random = seeded(1)
    },
    delay: (service) => rates[service].delay,
    draw(service, operation) {
      const named = nextFor(service, operation)
      if (named !== null) return named
      const { dropRequest, throttle, fail, dropAnswer } = rates[service]
      for (const [fault, n] of Object.entries({ dropRequest, throttle, fail, dropAnswer }) as [Exclude<Fault, object>, number][]) {
        if (n > 0 && random() < 1 / n) return fault
      }
      return null
    },
  }
  return plan
}

function noRates(): Rates {
  return { throttle: 0, fail: 0, dropAnswer: 0, dropRequest: 0, delay: 0 }
}

/** Numbers in [0, 1) that repeat with the seed: a Weyl sequence through a 32-bit mixer. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
