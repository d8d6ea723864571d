import { AwsV4Signer } from 'aws4fetch'
import { PortError } from '../../ports/error.ts'
import type { Bytes, Clock, Fetch, Random } from '../../ports/platform.ts'
import { backoff, MAX_ATTEMPTS, saysClockIsOff, type Trouble, troubleOf } from './attempts.ts'
import { type AwsCredentials, AwsError, type AwsService } from './aws.ts'
import type { Refusal } from './refusal.ts'

/** What both clients are opened with. */
export interface ClientOptions {
  region: string
  credentials: AwsCredentials
  /** Instead of Amazon's own address: an emulator, a private endpoint. */
  endpoint?: string | undefined
  fetch: Fetch
  clock: Clock
  /** Spreads the pauses between attempts. */
  random: Random
  /** Milliseconds; a test's own. */
  pause?: (ms: number) => Promise<void>
}

/** One call: signed anew for every attempt. The body must not change until the call has ended. */
export interface SignedCall<Answer> {
  /** For messages: `dynamodb GetItem`. */
  what: string
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body?: Bytes | undefined
  repeatable: boolean
  /** The answer of a 2xx; null when it can't be understood. Reads the body, or hands it on. */
  read(response: Response): Promise<Answer | null>
  /** What any other answer says. Reads the body. */
  refusal(response: Response): Promise<Refusal>
}

/** ms: an attempt, its body included. The services answer in tens of milliseconds, and a person is waiting. */
const ATTEMPT = 5_000
/** ms: all attempts and the pauses between them, half of what the platform gives work that outlives its answer */
const TOTAL = 15_000

type Outcome<Answer> = { answer: Answer } | { refusal: Refusal } | { trouble: Trouble; cause?: unknown }

/**
 * Sends calls signed with AWS Signature Version 4. A throttle, a 5xx and a missing or broken answer are tried again, at most three times in
 * all and within 15 s.
 *
 * How far the clock is off is learnt from a refusal that says so, and from nothing else: the date of any other answer may be a proxy's, and
 * can only spoil a clock that works. It is kept, so that the calls after it are signed right the first time.
 */
export function signedFetch(service: AwsService, options: ClientOptions) {
  const { credentials, region, clock, random, fetch } = options // fetch apart from its object: the platform's own refuses to be a method
  const pause = options.pause ?? ((ms) => new Promise<void>((resume) => setTimeout(resume, ms)))
  /** Signing keys by day: values, each good for a day. */
  const signingKeys = new Map<string, ArrayBuffer>()
  /** ms, added to our clock */
  let offset = 0

  /** @throws AwsError, PortError Unavailable */
  return async function send<Answer>(call: SignedCall<Answer>): Promise<Answer> {
    const deadline = clock.now() + TOTAL
    let mayHaveLanded = false
    let corrected = false
    let tried = 0

    for (;;) {
      const signedWith = offset // another call may learn a better one meanwhile
      const outcome = await attempt(call, Math.min(ATTEMPT, deadline - clock.now()))
      if ('answer' in outcome) return outcome.answer

      if (
        'refusal' in outcome &&
        !corrected &&
        outcome.refusal.date !== null &&
        saysClockIsOff(outcome.refusal, clock.now() + signedWith)
      ) {
        offset = outcome.refusal.date - clock.now()
        corrected = true
        if (clock.now() < deadline) continue // not carried out, and no fault of the service: none of the three attempts
      }

      tried++
      const trouble = 'refusal' in outcome ? troubleOf(outcome.refusal) : outcome.trouble
      const cause = 'refusal' in outcome ? awsError(call, outcome.refusal, mayHaveLanded) : outcome.cause
      if (trouble === null) throw cause
      if (trouble.ambiguous) mayHaveLanded = true

      const delay = backoff(trouble, tried, random)
      const outOfTime = clock.now() + delay >= deadline
      if (tried === MAX_ATTEMPTS || outOfTime || (trouble.ambiguous && !call.repeatable)) {
        throw new PortError('Unavailable', `${call.what} ${trouble.says} (attempt ${tried})`, { cause })
      }
      await pause(delay)
    }
  }

  async function attempt<Answer>(call: SignedCall<Answer>, ms: number): Promise<Outcome<Answer>> {
    const { url, ...signed } = await sign(call)
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), ms)
    try {
      const response = await fetch(url, { ...signed, redirect: 'manual', signal: controller.signal })
      if (!response.ok) return { refusal: await call.refusal(response) }
      const answer = await call.read(response)
      return answer === null ? { trouble: { says: 'gave an answer that can not be read', ambiguous: true } } : { answer }
    } catch (cause) {
      const says = controller.signal.aborted ? 'gave no answer in time' : 'could not be reached: are the region and the endpoint right?'
      return { trouble: { says, ambiguous: true }, cause }
    } finally {
      clearTimeout(timer)
    }
  }

  /** A request whose every header is signed: aws4fetch would leave out content-type and range, which are ours as much as the others. */
  async function sign<Answer>(call: SignedCall<Answer>) {
    const signer = new AwsV4Signer({
      method: call.method,
      url: call.url,
      headers: { ...call.headers },
      body: call.body ?? null,
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
      service,
      region,
      datetime: new Date(clock.now() + offset).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      allHeaders: true,
      cache: signingKeys,
    })
    const { url, method, headers } = await signer.sign()
    return { url: url.toString(), method, headers, ...(call.body === undefined ? {} : { body: call.body }) }
  }
}

/** Without the words of a refusal that is about the signature: they quote the request, session token included. */
function awsError<Answer>(call: SignedCall<Answer>, refusal: Refusal, mayHaveLanded: boolean): AwsError {
  const { message: _, Message: __, ...wordless } = refusal.body
  const body = /Signature/.test(refusal.type) ? wordless : refusal.body
  return new AwsError(refusal.type, `${call.what} was refused with HTTP ${refusal.status}`, { status: refusal.status, body, mayHaveLanded })
}
