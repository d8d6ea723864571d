import { PortError } from '../../ports/error.ts'
import type { Trigger } from '../../ports/trigger.ts'
import type { Poked } from './runner-object.ts'

/** What the adapter asks of a stub of Runner. */
export interface RunnerStub {
  poke(poked: Poked): Promise<void>
  status(): Promise<unknown>
}

/** What the adapter asks of the binding: a DurableObjectNamespace<Runner> as it is. */
export interface RunnerNamespace {
  getByName(name: string, options?: { locationHint?: DurableObjectLocationHint }): RunnerStub
}

export interface RunnersOptions {
  namespace: RunnerNamespace
  instance: string
  /** Where a new object is placed. */
  locationHint?: DurableObjectLocationHint | undefined
}

/** Which target is meant. */
export interface Target {
  kind: string
  target: string
}

/** The runners of an instance, one object a target. */
export interface Runners {
  /** @param due unix ms; null for a hint. @throws PortError Unavailable */
  poke(target: Target, due: number | null): Promise<void>
  /** What its runner remembers, for `parseJournal`. @throws PortError Unavailable */
  status(target: Target): Promise<unknown>
}

export function objectRunners({ namespace, instance, locationHint }: RunnersOptions): Runners {
  const place = locationHint === undefined ? {} : { locationHint }
  // A stub whose call failed may stay broken, so each call takes its own.
  const object = ({ kind, target }: Target) => namespace.getByName(`sluis-${instance}/${kind}:${target}`, place)
  return {
    poke: ({ kind, target }, due) => twice(`poking ${kind}:${target}`, () => object({ kind, target }).poke({ kind, target, due })),
    status: (target) => twice(`asking ${target.kind}:${target.target}`, () => object(target).status()),
  }
}

/**
 * Trigger that pokes the target's object itself, so that the tick runs at once and not in a minute.
 *
 * @param targetsOf the targets a hint is for; none for one that nobody knows, which is dropped
 */
export function objectTrigger(runners: Pick<Runners, 'poke'>, targetsOf: (hint: string) => readonly Target[]): Trigger {
  return {
    async notify(hint) {
      await Promise.all(targetsOf(hint).map((target) => runners.poke(target, null)))
    },
  }
}

/** Asking twice is asking once, so what was lost on the way is sent again; of an object with too much to do nothing more is asked. */
async function twice<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof Error && 'overloaded' in error && error.overloaded === true) throw unavailable(doing, error)
  }
  try {
    return await call()
  } catch (error) {
    throw unavailable(doing, error)
  }
}

function unavailable(doing: string, cause: unknown): PortError {
  return new PortError('Unavailable', `${doing} failed`, { cause })
}
