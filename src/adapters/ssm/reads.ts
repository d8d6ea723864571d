import * as z from 'zod'
import { PortError } from '../../ports/error.ts'
import { isAwsError, type JsonClient } from '../aws/aws.ts'
import { parseAnswer } from './answer.ts'
import { ssmFailure } from './failure.ts'

/** A parameter's value, decrypted, as SSM answers it. */
export interface Parameter {
  text: string
  /** 1 for the first; each write adds one. */
  version: number
  /** unix milliseconds */
  modified: number
}

/** names: what GetParameters takes */
const BATCH = 10

/**
 * microtasks a batch waits for company: a flow reaches the port through a few async functions (a cache, a guard), and each that awaits
 * makes a call one microtask later than its neighbour. All of it is one turn, and a turn is one request's.
 */
const TURN = 8

interface Waiting {
  resolve(parameter: Parameter | null): void
  reject(error: PortError): void
}

/**
 * Reads a parameter's newest version; null when there is none. Reads begun in one turn travel as one GetParameters of at most ten names:
 * SSM answers about 40 calls a second for a whole account. Nothing is kept beyond the answer.
 */
export function batchedReads(client: JsonClient): (name: string) => Promise<Parameter | null> {
  let waiting = new Map<string, Waiting[]>()

  async function sendAtEndOfTurn(): Promise<void> {
    for (let tick = 0; tick < TURN; tick++) await null
    const all = [...waiting]
    waiting = new Map()
    for (let at = 0; at < all.length; at += BATCH) void answer(all.slice(at, at + BATCH))
  }

  async function answer(calls: [string, Waiting[]][]): Promise<void> {
    try {
      const read = await newest(client, [...new Map(calls).keys()])
      for (const [name, readers] of calls) settle(name, readers, read)
    } catch (error) {
      // One name that is denied, or whose key is, denies the whole call: asked alone, each gets its own answer.
      if (isAwsError(error) && calls.length > 1) for (const call of calls) void answer([call])
      else for (const [name, readers] of calls) for (const reader of readers) reader.reject(ssmFailure(error, name))
    }
  }

  return (name) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) void sendAtEndOfTurn()
      const readers = waiting.get(name) ?? []
      waiting.set(name, [...readers, { resolve, reject }])
    })
}

function settle(name: string, readers: Waiting[], { found, absent }: Newest): void {
  const parameter = found.get(name)
  for (const reader of readers) {
    if (parameter !== undefined) reader.resolve(parameter)
    else if (absent.has(name)) reader.resolve(null)
    else reader.reject(new PortError('Unavailable', `parameter ${name} was asked for and not answered`))
  }
}

interface Newest {
  found: Map<string, Parameter>
  absent: Set<string>
}

async function newest(client: JsonClient, names: string[]): Promise<Newest> {
  const input = { Names: names, WithDecryption: true }
  const { Parameters, InvalidParameters } = parseAnswer(severalAnswer, await client.call({ operation: 'GetParameters', input }))
  return { found: new Map(Parameters.map((one) => [one.Name, parameterOf(one)])), absent: new Set(InvalidParameters) }
}

/**
 * One version of a parameter, decrypted, the newest when none is named; null when there is none.
 *
 * @throws PortError Unavailable
 */
export async function readParameter(client: JsonClient, name: string, version?: number): Promise<Parameter | null> {
  const selected = version === undefined ? name : `${name}:${version}`
  const answer = await readOne(client, { name, selected, decrypted: true })
  return answer && parameterOf(answer)
}

/**
 * The number of a parameter's newest version, its value left as it is encrypted; null when there is none.
 *
 * @throws PortError Unavailable
 */
export async function newestVersion(client: JsonClient, name: string): Promise<number | null> {
  const answer = await readOne(client, { name, selected: name, decrypted: false })
  return answer?.Version ?? null
}

interface One {
  name: string
  /** The name, alone or with a version. */
  selected: string
  decrypted: boolean
}

async function readOne(client: JsonClient, { name, selected, decrypted }: One): Promise<Answered | null> {
  try {
    const input = { Name: selected, WithDecryption: decrypted }
    return parseAnswer(oneAnswer, await client.call({ operation: 'GetParameter', input })).Parameter
  } catch (error) {
    if (isAwsError(error, 'ParameterNotFound', 'ParameterVersionNotFound')) return null
    throw ssmFailure(error, name)
  }
}

const answered = z.object({
  Name: z.string(),
  Value: z.string(),
  Version: z.int().positive(),
  LastModifiedDate: z.number().describe('unix seconds, with a fraction'),
})
type Answered = z.output<typeof answered>

const oneAnswer = z.object({ Parameter: answered })
const severalAnswer = z.object({ Parameters: z.array(answered).default([]), InvalidParameters: z.array(z.string()).default([]) })

function parameterOf({ Value, Version, LastModifiedDate }: Answered): Parameter {
  return { text: Value, version: Version, modified: Math.round(LastModifiedDate * 1_000) }
}
