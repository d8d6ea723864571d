import policy from 'sluis-policy'
import service from 'sluis-service'
import { createApp } from './app.ts'
import { compose, type Env, type Services } from './compose.ts'
import { resumeEndings } from './logout/endings.ts'
import { jsonLog } from './telemetry/log.ts'

export { StateShard } from './adapters/durable-object/state-shard.ts'
export { SealedSecrets } from './adapters/sealed/sealed-secrets.ts'

const clock = { now: () => Date.now() }
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const log = jsonLog((line) => console.log(line), clock)

interface Isolate {
  services: Services
  app: ReturnType<typeof createApp>
}

/** One an isolate: bindings don't change while it lives. Built by the first event, because secrets come with it. */
let isolate: Isolate | undefined

function start(env: Env): Isolate {
  const services = compose(env, { service, policy }, { clock, random, log })
  return { services, app: createApp(services) }
}

export default {
  fetch(request, env, context) {
    isolate ??= start(env)
    return isolate.app.fetch(request, env, context)
  },

  /** Every minute. What a first start needs is made before the first person comes: signing keys and the state secret. */
  async scheduled(_controller, env) {
    isolate ??= start(env)
    const { issuer, guard } = isolate.services
    await issuer.keyring.keySet()
    await resumeEndings(issuer)
    const secret = await guard()
    if (secret === 'changed') log.error('state_secret.changed', { reason: 'it is not the one this instance was started with' })
  },
} satisfies ExportedHandler<Env>
