import { PortError } from '../../ports/error.ts'
import { type Answer, MESSAGE_BYTES, type Op, type Ops, type Results, type ShardNamespace, weight } from './protocol.ts'

/** Ops by object name, those of one turn to one object in one RPC. */
export interface Shards {
  /** @throws PortError Exists | Conflict | NotFound as the object refused; Unavailable */
  call<Kind extends keyof Ops>(object: string, op: Ops[Kind] & { do: Kind }): Promise<Results[Kind]>
}

export interface ShardsOptions {
  namespace: ShardNamespace
  /** Where an object is placed when this call is its first. */
  locationHint?: DurableObjectLocationHint | undefined
}

interface Call {
  op: Op
  resolve(done: Results[keyof Results]): void
  reject(error: PortError): void
}

/**
 * microtasks a batch waits for company. A flow reaches the port through a few async functions (a record, a guard), and each that awaits
 * makes a call one microtask later than its neighbour; all of it is still one turn.
 */
const TURN = 4

/** The objects of a namespace, spoken to in batches. */
export function openShards({ namespace, locationHint }: ShardsOptions): Shards {
  const waiting = new Map<string, Call[]>()

  function enqueue(object: string, call: Call): void {
    const calls = waiting.get(object)
    if (calls) {
      calls.push(call)
      return
    }
    waiting.set(object, [call])
    void endOfTurn().then(() => {
      const batch = waiting.get(object) ?? []
      waiting.delete(object)
      for (const message of messages(batch)) void deliver(object, message)
    })
  }

  async function deliver(object: string, calls: Call[]): Promise<void> {
    try {
      settle(calls, await send(object, calls))
    } catch (error) {
      if (isOverloaded(error)) return failAll(calls, object, error)
      // Whether the object did any of it is unknown. All but one kind of op are the same done twice: a write knows its own revision again.
      failAll(calls.filter(onlyOnce), object, error)
      const again = calls.filter((call) => !onlyOnce(call))
      if (again.length > 0) await deliverAgain(object, again)
    }
  }

  async function deliverAgain(object: string, calls: Call[]): Promise<void> {
    try {
      settle(calls, await send(object, calls))
    } catch (error) {
      failAll(calls, object, error)
    }
  }

  // A stub that threw may be broken for good, and one of another request may not be used: each message takes a new one.
  async function send(object: string, calls: Call[]): Promise<Answer[]> {
    const stub = namespace.getByName(object, locationHint === undefined ? {} : { locationHint })
    return await stub.run(calls.map((call) => call.op))
  }

  return {
    call(object, op) {
      return new Promise((resolve, reject) => {
        // What an object answers to an op of this kind is a result of this kind: the one place where the two meet.
        enqueue(object, { op, resolve: (done) => resolve(done as Results[typeof op.do]), reject })
      })
    },
  }
}

async function endOfTurn(): Promise<void> {
  for (let tick = 0; tick < TURN; tick++) await null
}

/** The batch in as few messages as the platform's message size allows. */
function messages(batch: Call[]): Call[][] {
  const split: Call[][] = []
  let room = 0
  for (const call of batch) {
    const bytes = weight(call.op)
    const last = split.at(-1)
    if (last && bytes <= room) {
      last.push(call)
      room -= bytes
    } else {
      split.push([call])
      room = MESSAGE_BYTES - bytes
    }
  }
  return split
}

/** A conditional delete sent twice would answer NotFound to the one that did it. */
function onlyOnce({ op }: Call): boolean {
  return op.do === 'deleteIfRevision'
}

/** The platform's mark of an object with too much to do: asking again makes it worse. */
function isOverloaded(error: unknown): boolean {
  return error instanceof Error && 'overloaded' in error && error.overloaded === true
}

function settle(calls: Call[], answers: Answer[]): void {
  for (const [at, call] of calls.entries()) {
    const answer = answers[at]
    if (answer === undefined) call.reject(new PortError('Unavailable', `${call.op.do} was not answered`))
    else if ('done' in answer) call.resolve(answer.done)
    else if ('refused' in answer) call.reject(new PortError(answer.refused, `${call.op.do}: ${answer.refused}`))
    else call.reject(new PortError('Unavailable', `${call.op.do} failed`, { cause: answer.failed }))
  }
}

function failAll(calls: Call[], object: string, cause: unknown): void {
  for (const call of calls) call.reject(new PortError('Unavailable', `${call.op.do} at ${object} failed`, { cause }))
}
