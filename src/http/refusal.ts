import { ownMessage } from '../telemetry/describe-error.ts'

export interface RefusalWords {
  /** What programs are answered as `error`: a name of ours, in snake_case. */
  readonly code: string
  /** What happened, in one sentence. */
  readonly description: string
  /** The heading of the page. */
  readonly title: string
  /** What the reader can do about it. */
  readonly advice: string
  /** The issuer's address, for who came to it by another name: the page links it. */
  readonly issuerIsAt?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal of HTTP's own rather than of OAuth: the wrong address, host, method or origin. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly [ownMessage] = true
  readonly status: number
  readonly words: RefusalWords

  constructor(status: number, words: RefusalWords) {
    super(words.description)
    this.status = status
    this.words = words
  }

  get code(): string {
    return this.words.code
  }
}

/** RFC 9110 section 15.5.5. */
export function notFound(): Refusal {
  return new Refusal(404, {
    code: 'not_found',
    description: 'There is nothing at this address.',
    title: 'Nothing here',
    advice: 'Check the address, or go back to the application you came from.',
  })
}
