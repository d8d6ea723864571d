import type { Adapters } from '../../src/compose.ts'

/** One call of State or Index. An `add` or `remove` of Index is a write (docs/design.md, "Budgets"). */
export interface PortCall {
  method: 'get' | 'list' | 'peekRevision' | 'members' | 'put' | 'create' | 'update' | 'delete' | 'deleteIfRevision' | 'add' | 'remove'
  /** The key, the prefix or the set it is about. */
  on: string
  kind: 'read' | 'write'
}

/** Stands between a flow and its store: it decides when `apply` takes effect, whether it does, and what the flow is told. */
export type Intercept = <T>(call: PortCall, apply: () => Promise<T>) => Promise<T>

/** The adapters with every call of State and Index that a flow makes passed through `intercept`, in the turn it was made. */
export function interceptCalls({ state, index, ...others }: Adapters, intercept: Intercept): Adapters {
  const read = (method: PortCall['method'], on: string): PortCall => ({ method, on, kind: 'read' })
  const write = (method: PortCall['method'], on: string): PortCall => ({ method, on, kind: 'write' })
  return {
    ...others,
    state: {
      get: (key, options) => intercept(read('get', key), () => state.get(key, options)),
      list: (prefix, options) => intercept(read('list', prefix), () => state.list(prefix, options)),
      put: (key, ...rest) => intercept(write('put', key), () => state.put(key, ...rest)),
      create: (key, ...rest) => intercept(write('create', key), () => state.create(key, ...rest)),
      update: (key, ...rest) => intercept(write('update', key), () => state.update(key, ...rest)),
      delete: (key) => intercept(write('delete', key), () => state.delete(key)),
      deleteIfRevision: (key, rev) => intercept(write('deleteIfRevision', key), () => state.deleteIfRevision(key, rev)),
      watch: state.watch,
      ...peek(state, (key, apply) => intercept(read('peekRevision', key), apply)),
    },
    index: {
      members: (set) => intercept(read('members', set), () => index.members(set)),
      add: (set, ...rest) => intercept(write('add', set), () => index.add(set, ...rest)),
      remove: (set, ...rest) => intercept(write('remove', set), () => index.remove(set, ...rest)),
    },
  }
}

/** The adapters as they are, with every call noted in `calls`. */
export function noteCalls(adapters: Adapters, calls: PortCall[]): Adapters {
  return interceptCalls(adapters, (call, apply) => {
    calls.push(call)
    return apply()
  })
}

type PeekRevision = NonNullable<Adapters['state']['peekRevision']>

function peek(state: Adapters['state'], around: (key: string, apply: () => ReturnType<PeekRevision>) => ReturnType<PeekRevision>) {
  const inner = state.peekRevision
  return inner === undefined ? {} : { peekRevision: (key: string) => around(key, () => inner(key)) }
}

/** Calls as a reader of a failed test wants them: `create ses.ada~40acme~2Eexample.xyz`. */
export function spelled(calls: readonly PortCall[]): string[] {
  return calls.map(({ method, on }) => `${method} ${on}`)
}
