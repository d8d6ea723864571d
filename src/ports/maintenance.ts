import type { Blob } from './blob.ts'
import { PortError } from './error.ts'
import type { Index } from './index-set.ts'
import { keys } from './keys.ts'
import type { Clock } from './platform.ts'
import type { Secrets } from './secrets.ts'
import type { State } from './state.ts'

/** The maintenance flag of one module's table, as this isolate last read it. */
export interface MaintenanceGate {
  /** null, or resolves, when the module may write. @throws PortError Unavailable: the flag is set; or why it can't be read, for then it may be */
  pass(): Promise<void> | null
  /** Reads the flag beside something else when it will soon be needed. Never rejects: whoever writes asks again. */
  lookAhead(): Promise<void> | null
  /** Whether it is set. @throws PortError Unavailable */
  isSet(): Promise<boolean>
}

/** ms: a write never rests on an older reading (docs/design.md, "Maintenance") */
const GOOD_FOR = 10_000
/** ms: from this age on a read brings a new one along, so that the write behind it need not wait for one */
const DUE_AT = 5_000
/** s: what a restore of one module takes at least */
const RETRY_AFTER = 30

/**
 * The gate of the module whose State this is. A record at `rec.maintenance` is the flag, whatever it holds: a damaged one counts as set. A clock that
 * was set back makes a reading old, not new.
 */
export function maintenanceGate(state: Pick<State, 'get'>, module: string, clock: Clock): MaintenanceGate {
  let reading: { at: number; set: boolean } | null = null
  let askedAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<boolean> {
    const at = clock.now()
    askedAt = at
    const set = (await state.get(keys.maintenance)) !== null
    // Of two readings that cross, the one begun last is kept.
    if (reading === null || reading.at <= at || age(reading.at) > GOOD_FOR) reading = { at, set }
    return set
  }

  function age(at: number): number {
    return Math.abs(clock.now() - at)
  }

  async function readAndPass(): Promise<void> {
    if (await read()) throw underMaintenance(module)
  }

  return {
    isSet: read,

    pass() {
      if (reading === null || age(reading.at) >= GOOD_FOR) return readAndPass()
      if (reading.set) throw underMaintenance(module)
      return null
    },

    lookAhead() {
      if ((reading !== null && age(reading.at) < DUE_AT) || age(askedAt) < DUE_AT) return null
      return read().then(nothing, nothing)
    },
  }
}

/** State whose writes pass the gate first, and whose reads bring the flag along. */
export function maintainedState(state: State, gate: MaintenanceGate): State {
  return {
    ...state,
    get: (key, options) => beside(gate, () => state.get(key, options)),
    list: (prefix, options) => beside(gate, () => state.list(prefix, options)),
    put: (key, ...rest) => behind(gate, () => state.put(key, ...rest)),
    create: (key, ...rest) => behind(gate, () => state.create(key, ...rest)),
    update: (key, ...rest) => behind(gate, () => state.update(key, ...rest)),
    delete: (key) => behind(gate, () => state.delete(key)),
    deleteIfRevision: (key, rev) => behind(gate, () => state.deleteIfRevision(key, rev)),
  }
}

/** Index whose writes pass the gate first. */
export function maintainedIndex(index: Index, gate: MaintenanceGate): Index {
  return {
    members: (set) => index.members(set),
    add: (set, ...rest) => behind(gate, () => index.add(set, ...rest)),
    remove: (set, ...rest) => behind(gate, () => index.remove(set, ...rest)),
  }
}

/** Secrets whose writes pass the gate first. */
export function maintainedSecrets(secrets: Secrets, gate: MaintenanceGate): Secrets {
  return {
    get: (path, options) => secrets.get(path, options),
    list: (prefix) => secrets.list(prefix),
    put: (path, ...rest) => behind(gate, () => secrets.put(path, ...rest)),
    putIfVersion: (path, ...rest) => behind(gate, () => secrets.putIfVersion(path, ...rest)),
    delete: (path) => behind(gate, () => secrets.delete(path)),
  }
}

/** Blob whose writes pass the gate first: of a module that keeps more in it than what happened. */
export function maintainedBlob(blob: Blob, gate: MaintenanceGate): Blob {
  return {
    ...blob,
    write: (name, body) => behind(gate, () => blob.write(name, body)),
    writeIfVersion: (name, ...rest) => behind(gate, () => blob.writeIfVersion(name, ...rest)),
    delete: (name) => behind(gate, () => blob.delete(name)),
    writeStream: (name, body) => behind(gate, () => blob.writeStream(name, body)),
  }
}

/** Both in the same turn, so that an adapter may send them together. Nothing is put around a read that brings nothing along. */
function beside<T>(gate: MaintenanceGate, read: () => Promise<T>): Promise<T> {
  const look = gate.lookAhead()
  return look === null ? read() : Promise.all([read(), look]).then(([found]) => found)
}

/** In the turn it was asked for when the flag is known: writes made together stay together. */
function behind<T>(gate: MaintenanceGate, write: () => Promise<T>): Promise<T> {
  try {
    const passing = gate.pass()
    return passing === null ? write() : passing.then(write)
  } catch (error) {
    return Promise.reject(error)
  }
}

function underMaintenance(module: string): PortError {
  return new PortError('Unavailable', `module ${module} is under maintenance: nothing is written`, { retryAfter: RETRY_AFTER })
}

function nothing(): void {}
