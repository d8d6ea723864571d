import type { Metrics } from './metrics.ts'

/** As much of an audit event as is counted: none of whom it is about. */
interface Audited {
  readonly event: string
  readonly how?: string | undefined
  readonly alg?: string | undefined
}

/** Counts what is audited: every sign-in, refused or not, and all that becomes of signing keys, is an event there. */
export function countAudited(metrics: Metrics): (event: Audited) => void {
  return ({ event, how = 'other', alg = 'other' }) => {
    switch (event) {
      case 'signin.completed':
        return metrics.count('signins', { how, outcome: 'completed' })
      case 'signin.refused':
        return metrics.count('signins', { how, outcome: 'refused' })
      case 'recovery.refused':
        return metrics.count('signins', { how: 'recovery', outcome: 'refused' })
    }
    if (event.startsWith('key.')) metrics.count('keys', { alg, event: event.slice('key.'.length) })
  }
}
