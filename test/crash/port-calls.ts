import type { Adapters } from '../../src/compose.ts'
import { keys } from '../../src/ports/keys.ts'
import type { State } from '../../src/ports/state.ts'

/** One call of State or Index. An `add` or `remove` of Index is a write (docs/design.md, "Budgets"). */
export interface PortCall {
  method: 'get' | 'list' | 'peekRevision' | 'members' | 'put' | 'create' | 'update' | 'delete' | 'deleteIfRevision' | 'add' | 'remove'
  /** The key, the prefix or the set it is about. */
  on: string
  kind: 'read' | 'write'
}

/** Stands between a flow and its store: it decides when `apply` takes effect, whether it does, and what the flow is told. */
export type Intercept = <T>(call: PortCall, apply: () => Promise<T>) => Promise<T>

/**
 * The adapters with every call of State and Index that a flow makes passed through `intercept`, in the turn it was made. The maintenance flag is
 * read beside a flow's first read, once in ten seconds an isolate: no flow's own, it has tests of its own (maintenance.test.ts).
 */
export function interceptCalls({ state, index, ...others }: Adapters, intercept: Intercept): Adapters {
  return {
    ...others,
    state: interceptState(state, intercept),
    index: {
      members: (set) => intercept(read('members', set), () => index.members(set)),
      add: (set, ...rest) => intercept(write('add', set), () => index.add(set, ...rest)),
      remove: (set, ...rest) => intercept(write('remove', set), () => index.remove(set, ...rest)),
    },
  }
}

/** One State so. */
export function interceptState(state: State, intercept: Intercept): State {
  return {
    get: (key, options) => (key === keys.maintenance ? state.get(key) : intercept(read('get', key), () => state.get(key, options))),
    list: (prefix, options) => intercept(read('list', prefix), () => state.list(prefix, options)),
    put: (key, ...rest) => intercept(write('put', key), () => state.put(key, ...rest)),
    create: (key, ...rest) => intercept(write('create', key), () => state.create(key, ...rest)),
    update: (key, ...rest) => intercept(write('update', key), () => state.update(key, ...rest)),
    delete: (key) => intercept(write('delete', key), () => state.delete(key)),
    deleteIfRevision: (key, rev) => intercept(write('deleteIfRevision', key), () => state.deleteIfRevision(key, rev)),
    watch: state.watch,
    ...peek(state, (key, apply) => intercept(read('peekRevision', key), apply)),
  }
}

function read(method: PortCall['method'], on: string): PortCall {
  return { method, on, kind: 'read' }
}

function write(method: PortCall['method'], on: string): PortCall {
  return { method, on, kind: 'write' }
}

/** The adapters as they are, with every call noted in `calls`. */
export function noteCalls(adapters: Adapters, calls: PortCall[]): Adapters {
  return interceptCalls(adapters, (call, apply) => {
    calls.push(call)
    return apply()
  })
}

type PeekRevision = NonNullable<State['peekRevision']>

function peek(state: State, around: (key: string, apply: () => ReturnType<PeekRevision>) => ReturnType<PeekRevision>) {
  const inner = state.peekRevision
  return inner === undefined ? {} : { peekRevision: (key: string) => around(key, () => inner(key)) }
}

/** Calls as a reader of a failed test wants them: `create ses.ada~40acme~2Eexample.xyz`. */
export function spelled(calls: readonly PortCall[]): string[] {
  return calls.map(({ method, on }) => `${method} ${on}`)
}
