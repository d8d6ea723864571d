import type { Adapters } from '../../src/compose.ts'
import { PortError } from '../../src/ports/error.ts'
import { startService, type TestService, type TestStore, testStore } from './harness.ts'

/** Which calls fail; shared with the service, so that a test can let them fail from here on. */
export interface Outage {
  fails: (port: 'state' | 'index' | 'secrets', call: string) => boolean
}

export const none: Outage['fails'] = () => false
export const everything: Outage['fails'] = () => true
export const reads: Outage['fails'] = (_port, call) => ['get', 'list', 'members'].includes(call)
export const writes: Outage['fails'] = (_port, call) => !['get', 'list', 'members'].includes(call)
export const records: Outage['fails'] = (port) => port === 'state'
export const secretStore: Outage['fails'] = (port) => port === 'secrets'

function failing<Port extends object>(port: Port, name: 'state' | 'index' | 'secrets', outage: Outage): Port {
  return new Proxy(port, {
    get(target, call, receiver) {
      const method = Reflect.get(target, call, receiver)
      if (typeof method !== 'function') return method
      return (...given: unknown[]) =>
        outage.fails(name, String(call))
          ? Promise.reject(new PortError('Unavailable', `${name} is away`))
          : Reflect.apply(method, target, given)
    },
  })
}

/** A service whose stores are up until the test says otherwise. */
export function startOnShakyStores(store: TestStore = testStore('memory')): { store: TestStore; outage: Outage; service: TestService } {
  const outage: Outage = { fails: none }
  const wrap = ({ state, index, secrets, ...others }: Adapters): Adapters => ({
    ...others,
    state: failing(state, 'state', outage),
    index: failing(index, 'index', outage),
    secrets: failing(secrets, 'secrets', outage),
  })
  return { store, outage, service: startService(store, wrap) }
}
