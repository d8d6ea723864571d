import policy from 'sluis-policy'
import service from 'sluis-service'
import { type ObjectMemory, RunnerObject } from './adapters/object/runner-object.ts'
import { createApp } from './app.ts'
import { compose, type Env } from './compose.ts'
import { PortError } from './ports/error.ts'
import { jsonLog } from './telemetry/log.ts'
import { noteRun } from './ticks/note-run.ts'
import { writeReport } from './ticks/report.ts'
import { createRunner } from './ticks/runner.ts'
import { pokeDue } from './ticks/schedule.ts'

export { StateShard } from './adapters/durable-object/state-shard.ts'
export { SealedSecrets } from './adapters/sealed/sealed-secrets.ts'

const clock = { now: () => Date.now() }
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const write = (line: string) => console.log(line)
const log = jsonLog(write, clock)
const platform = { clock, random, fetch: (...call: Parameters<typeof fetch>) => fetch(...call), log, write }

interface Isolate {
  services: ReturnType<typeof compose>
  app: ReturnType<typeof createApp>
}

/** One an isolate: bindings don't change while it lives. Built by the first event, because secrets come with it. */
let isolate: Isolate | undefined

/** null when a variable or a Worker secret is not what it must be: the log says which, and every answer is 503 until it is mended. */
function started(env: Env): Isolate | null {
  if (isolate !== undefined) return isolate
  try {
    const services = compose(env, { service, policy }, platform)
    isolate = { services, app: createApp(services) }
    return isolate
  } catch (error) {
    log.error('start.failed', { error })
    return null
  }
}

/** One target's object: runs its tick. Its isolate is one like any other. */
export class Runner extends RunnerObject<Env> {
  protected override runner(memory: ObjectMemory) {
    const services = () => {
      const isolate = started(this.env)
      if (isolate === null) throw new PortError('Unavailable', 'this service is not configured')
      return isolate.services
    }
    return createRunner({
      ...{ memory, clock, random, log },
      ticks: () => services().ticks,
      subrequests: () => services().subrequests,
      report: (tick, run, details, budget) => writeReport(services().blob, tick, run, details, budget),
      ended: (ended) => noteRun(ended, { log, meter: isolate?.services.meter }),
    })
  }
}

export default {
  fetch(request, env, context) {
    const isolate = started(env)
    return isolate === null ? misconfigured() : isolate.app.fetch(request, env, context)
  },

  /**
   * Every minute. What a first start needs is made before the first person comes: signing keys and the state secret; and what something cut
   * short is done. One that fails keeps none of the others.
   */
  async scheduled({ scheduledTime }, env) {
    const isolate = started(env)
    if (isolate === null) return
    const { issuer, readiness, ticks, runners, sayStale } = isolate.services
    await attempt('signing keys', () => issuer.keyring.keySet())
    await pokeDue(scheduledTime, { ticks, poke: runners.poke, log })
    await attempt('stale ticks', () => sayStale(scheduledTime))
    await attempt('client secrets', () => issuer.clientSecrets.makeMissing(issuer))
    await issuer.audit.flush()
    await attempt('state secret', readiness.guard) // which says so when it is another
  },
} satisfies ExportedHandler<Env>

async function attempt(kind: string, task: () => Promise<unknown>): Promise<void> {
  try {
    await task()
  } catch (error) {
    log.error('scheduled.failed', { kind, error })
  }
}

function misconfigured(): Response {
  const body = { error: 'temporarily_unavailable', error_description: 'this service is not configured; its log says what is missing' }
  return Response.json(body, { status: 503, headers: { 'cache-control': 'no-store', 'retry-after': '60' } })
}
