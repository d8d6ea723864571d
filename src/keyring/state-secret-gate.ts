import { isPortError, PortError } from '../ports/error.ts'
import type { Clock } from '../ports/platform.ts'
import type { Log } from '../telemetry/log.ts'
import { guardStateSecret, lookAtStateSecret, type StateSecretGuard, type StateSecretParts } from './state-secret.ts'

/** What keeps an isolate from serving with another state secret than the instance was started with. */
export interface StateSecretGate {
  /**
   * Before a request that signs or writes; writes nothing. Asked once in the life of an isolate, and every 10 s once it was found changed. A store
   * that can't say refuses nobody: what needs the secret itself finds out by itself.
   *
   * @throws PortError Unavailable: it is changed
   */
  pass(): Promise<void> | void
  /** Compares now, keeps the fingerprint from lapsing, and has `pass` go by the answer. @throws PortError */
  guard(): Promise<StateSecretGuard>
}

/** s: how soon an isolate serves again when the right secret is back, or the present one was accepted */
const CHANGED_PAUSE = 10
/** s: in an outage one request a minute waits for the answer, not every one */
const FAILURE_PAUSE = 60

export function stateSecretGate(parts: StateSecretParts & { clock: Clock; log: Log }): StateSecretGate {
  const { clock, log } = parts
  let refuses = false
  /** unix ms until which the last answer holds, and from when: a clock that was set back must not make it hold for ever */
  let holds = { from: 0, until: 0 }

  function learn(says: StateSecretGuard | 'none' | 'unknown'): void {
    const from = clock.now()
    refuses = says === 'changed'
    if (refuses) log.error('state_secret.changed', { reason: 'it is not the one this instance was started with' })
    const seconds = refuses ? CHANGED_PAUSE : FAILURE_PAUSE
    const settled = says === 'same' || says === 'foreign'
    holds = settled ? { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY } : { from, until: from + seconds * 1_000 }
  }

  function refuse(): void {
    if (!refuses) return
    throw new PortError('Unavailable', 'the state secret is not the one this instance was started with', { retryAfter: CHANGED_PAUSE })
  }

  async function askAndPass(): Promise<void> {
    try {
      learn(await lookAtStateSecret(parts))
    } catch (error) {
      if (!isPortError(error)) throw error
      log.warn('state_secret.unread', { error })
      // Of what was found changed, a store that fails says nothing better.
      learn(refuses ? 'changed' : 'unknown')
    }
    refuse()
  }

  return {
    pass() {
      const now = clock.now()
      return now < holds.from || now >= holds.until ? askAndPass() : refuse()
    },

    async guard() {
      const says = await guardStateSecret(parts)
      learn(says)
      return says
    },
  }
}
