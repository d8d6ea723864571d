import { DurableObject } from 'cloudflare:workers'

/** What the object asks of the one who runs its target: `createRunner` of the ticks makes one. */
export interface TargetRunner {
  poke(poked: Poked): Promise<void>
  run(): Promise<void>
  status(): Promise<unknown>
}

export interface Poked {
  kind: string
  target: string
  /** unix ms: the due time; null for a hint */
  due: number | null
}

/** Where a runner remembers: one value, and the alarm of its object. */
export interface ObjectMemory {
  read(): Promise<unknown>
  update(change: (kept: unknown) => { kept: unknown; alarm?: number } | null): Promise<void>
}

/**
 * One target's Durable Object: its alarm runs the tick, and the platform runs one alarm of an object at a time. The Worker names the class
 * `Runner` and says what it runs.
 */
export abstract class RunnerObject<Env> extends DurableObject<Env> {
  protected abstract runner(memory: ObjectMemory): TargetRunner

  async poke(poked: Poked): Promise<void> {
    await this.runner(objectMemory(this.ctx.storage)).poke(poked)
  }

  override async alarm(): Promise<void> {
    await this.runner(objectMemory(this.ctx.storage)).run()
  }

  async status(): Promise<unknown> {
    return await this.runner(objectMemory(this.ctx.storage)).status()
  }
}

/** Of an object with SQLite storage. */
export function objectMemory(storage: DurableObjectStorage): ObjectMemory {
  return {
    async read() {
      return storage.kv.get(KEPT)
    },

    async update(change) {
      const set = await storage.getAlarm()
      // From here to the alarm nothing is waited for: all of it is one commit.
      const changed = change(storage.kv.get(KEPT))
      if (changed === null) return
      storage.kv.put(KEPT, changed.kept)
      const { alarm } = changed
      if (alarm !== undefined && (set === null || alarm < set)) await storage.setAlarm(alarm)
    },
  }
}

const KEPT = 'journal'
