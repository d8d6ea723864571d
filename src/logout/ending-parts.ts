import type { Audit } from '../audit/audit.ts'
import type { Policy } from '../config/policy.ts'
import type { Index } from '../ports/index-set.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import type { Ending } from '../records/ending.ts'
import type { Log } from '../telemetry/log.ts'
import type { Budget } from '../ticks/budget.ts'

/** What an ending works with: the issuer has all of it. */
export interface EndingParts {
  state: State
  index: Index
  policy: Policy
  clock: Clock
  random: Random
  audit: Audit
  log: Log
  calls: Budget
  /** Begins to tell the clients of an ending, for nobody to wait for: what it does not come to, the tick does. */
  tell(ending: Ending): void
}
