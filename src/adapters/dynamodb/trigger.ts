import { utf8 } from '../../crypto/bytes.ts'
import { keys } from '../../ports/keys.ts'
import type { Clock } from '../../ports/platform.ts'
import type { State } from '../../ports/state.ts'
import type { Trigger } from '../../ports/trigger.ts'

/** seconds: a hint nobody took within a few ticks is a hint the ticks no longer need (seed: storage-layout, "a notification (a minute)") */
const HINT = 60

export interface DynamodbTriggerOptions {
  /** Of the module whose ticks are to hear it: a notification stays in its table. */
  state: Pick<State, 'put'>
  clock: Clock
}

/** Trigger as records `notify.<target>`, which hold when (RFC 3339). Notifying again before it is taken is one notification. */
export function dynamodbTrigger({ state, clock }: DynamodbTriggerOptions): Trigger {
  return {
    async notify(target) {
      await state.put(keys.notify(target), utf8(new Date(clock.now()).toISOString()), HINT)
    },
  }
}
