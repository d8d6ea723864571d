import { DurableObject } from 'cloudflare:workers'
import { nowSeconds } from '../../ports/expiry.ts'
import type { Answer, Op } from './protocol.ts'
import { createTable, execute, holdsExpiring, Refused, sweep } from './rows.ts'

/** s and ms: dead rows stay this long, so that no caller's clock finds a row gone that it still holds live. */
const KEEP_DEAD_SECONDS = 3_600
const SWEEP_EVERY_MS = 3_600_000

/** rows in one alarm: well within the CPU time an alarm has. What is left goes in the next, at once. */
const SWEEP_ROWS = 10_000

/** One shard of a module's table. Expiry is judged by the caller's clock; only the sweep goes by the object's own. */
export class StateShard extends DurableObject {
  private armed = false

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    createTable(ctx.storage.sql)
  }

  /** Does the ops in order. Each is atomic by itself and answers for itself; they reach the disk in one commit. */
  async run(ops: Op[]): Promise<Answer[]> {
    if (!this.armed && ops.some(leavesExpiring)) await this.arm()
    return ops.map((op) => this.answer(op))
  }

  override async alarm(): Promise<void> {
    this.armed = false
    const { sql } = this.ctx.storage
    const removed = sweep(sql, nowSeconds(Date.now()) - KEEP_DEAD_SECONDS, SWEEP_ROWS)
    if (removed === SWEEP_ROWS) await this.ctx.storage.setAlarm(Date.now())
    else if (holdsExpiring(sql)) await this.arm()
  }

  private async arm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + SWEEP_EVERY_MS)
    this.armed = true
  }

  private answer(op: Op): Answer {
    try {
      return { done: execute(this.ctx.storage.sql, op) }
    } catch (error) {
      return error instanceof Refused ? { refused: error.refusal } : { failed: String(error) }
    }
  }
}

function leavesExpiring(op: Op): boolean {
  return (op.do === 'put' || op.do === 'create' || op.do === 'update') && op.expires !== null
}
