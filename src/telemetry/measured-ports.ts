import type { Blob } from '../ports/blob.ts'
import { isPortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import type { Clock } from '../ports/platform.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { State } from '../ports/state.ts'
import type { Metrics, Operation, PortName } from './metrics.ts'

/** Measures calls of ports: each in the metrics, and all together for the line of a request. */
export interface PortCalls {
  /** How many were made. */
  readonly count: number
  /** ms in which at least one was under way: several at once take their time together. */
  readonly ms: number
  /** Makes the call in this turn. */
  timed<Port extends PortName, T>(port: Port, operation: Operation<Port>, call: () => Promise<T>): Promise<T>
}

/** @param clock one that goes on: a request's own stands still */
export function portCalls(clock: Clock, metrics: Metrics): PortCalls {
  let count = 0
  let ms = 0
  let underWay = 0
  let since = 0

  function ended(port: PortName, operation: string, outcome: string, began: number): void {
    const now = clock.now()
    underWay--
    if (underWay === 0) ms += now - since
    metrics.duration('port.calls', now - began, { port, operation, outcome })
  }

  return {
    get count() {
      return count
    },
    get ms() {
      return ms
    },
    async timed(port, operation, call) {
      const began = clock.now()
      count++
      if (underWay === 0) since = began
      underWay++
      try {
        const answer = await call()
        ended(port, operation, 'ok', began)
        return answer
      } catch (error) {
        ended(port, operation, isPortError(error) ? error.code : 'failed', began)
        throw error
      }
    },
  }
}

/** But for `watch` and `export`, which have no end to wait for. */
export function measuredState(state: State, calls: PortCalls): State {
  const { peekRevision } = state
  return {
    ...state,
    get: (...call) => calls.timed('state', 'get', () => state.get(...call)),
    put: (...call) => calls.timed('state', 'put', () => state.put(...call)),
    create: (...call) => calls.timed('state', 'create', () => state.create(...call)),
    update: (...call) => calls.timed('state', 'update', () => state.update(...call)),
    delete: (...call) => calls.timed('state', 'delete', () => state.delete(...call)),
    deleteIfRevision: (...call) => calls.timed('state', 'deleteIfRevision', () => state.deleteIfRevision(...call)),
    list: (...call) => calls.timed('state', 'list', () => state.list(...call)),
    ...(peekRevision === undefined ? {} : { peekRevision: (key: string) => calls.timed('state', 'peekRevision', () => peekRevision(key)) }),
  }
}

export function measuredIndex(index: Index, calls: PortCalls): Index {
  return {
    add: (...call) => calls.timed('index', 'add', () => index.add(...call)),
    remove: (...call) => calls.timed('index', 'remove', () => index.remove(...call)),
    members: (...call) => calls.timed('index', 'members', () => index.members(...call)),
  }
}

export function measuredSecrets(secrets: Secrets, calls: PortCalls): Secrets {
  return {
    get: (...call) => calls.timed('secrets', 'get', () => secrets.get(...call)),
    put: (...call) => calls.timed('secrets', 'put', () => secrets.put(...call)),
    putIfVersion: (...call) => calls.timed('secrets', 'putIfVersion', () => secrets.putIfVersion(...call)),
    delete: (...call) => calls.timed('secrets', 'delete', () => secrets.delete(...call)),
    list: (...call) => calls.timed('secrets', 'list', () => secrets.list(...call)),
  }
}

/** Of a stream, until it begins. */
export function measuredBlob(blob: Blob, calls: PortCalls): Blob {
  return {
    read: (...call) => calls.timed('blob', 'read', () => blob.read(...call)),
    write: (...call) => calls.timed('blob', 'write', () => blob.write(...call)),
    writeIfVersion: (...call) => calls.timed('blob', 'writeIfVersion', () => blob.writeIfVersion(...call)),
    delete: (...call) => calls.timed('blob', 'delete', () => blob.delete(...call)),
    list: (...call) => calls.timed('blob', 'list', () => blob.list(...call)),
    readStream: (...call) => calls.timed('blob', 'readStream', () => blob.readStream(...call)),
    writeStream: (...call) => calls.timed('blob', 'writeStream', () => blob.writeStream(...call)),
  }
}

export function measuredSealer(sealer: Sealer, calls: PortCalls): Sealer {
  return {
    ...sealer,
    seal: (...call) => calls.timed('sealer', 'seal', () => sealer.seal(...call)),
    open: (...call) => calls.timed('sealer', 'open', () => sealer.open(...call)),
  }
}
