export interface Words {
  readonly status: number
  readonly title: string
  /** `@` stands for the provider's name. */
  readonly description: string
  readonly advice: string
  /** How the way to try again asks the provider: as before, by another account, or anew. Absent: trying again changes nothing. */
  readonly again?: 'as before' | 'another account' | 'anew'
}

const NOT_SIGNED_IN = 'You are not signed in'
const NOT_NOW = 'Not right now'
const ASK_OPERATOR = 'Tell whoever runs this service the code and the request number below: it is theirs to repair.'
const TRY_AGAIN = 'Try again. If it stays like this, tell whoever runs this service the code and the request number below.'

/** Every way a sign-in at a provider can be refused. The name is what page, log line and audit event all say. */
export const REASONS = {
  not_started_here: {
    status: 400,
    title: NOT_SIGNED_IN,
    description: 'No sign-in under way in this browser belongs to this answer of @. Perhaps it is finished already.',
    advice: 'Go back to the application you came from and start again. The browser must accept cookies.',
  },
  start_expired: {
    status: 400,
    title: NOT_SIGNED_IN,
    description: 'The sign-in at @ took longer than ten minutes.',
    advice: 'Start it again.',
    again: 'as before',
  },
  cancelled: {
    status: 400,
    title: NOT_SIGNED_IN,
    description: '@ says that the sign-in was cancelled or refused there.',
    advice: 'You can try again, or use another account.',
    again: 'another account',
  },
  provider_error: { status: 502, title: NOT_NOW, description: '@ answered with an error.', advice: TRY_AGAIN, again: 'as before' },
  provider_unreachable: {
    status: 502,
    title: NOT_NOW,
    description: '@ could not be reached, or did not answer in time.',
    advice: 'Wait a moment and try again.',
    again: 'as before',
  },
  provider_garbage: {
    status: 502,
    title: NOT_NOW,
    description: '@ answered something that can’t be used.',
    advice: TRY_AGAIN,
    again: 'as before',
  },
  other_issuer: {
    status: 400,
    title: NOT_SIGNED_IN,
    description: 'The answer came from another provider than @, which was asked.',
    advice: TRY_AGAIN,
    again: 'as before',
  },
  client_refused: {
    status: 502,
    title: NOT_NOW,
    description: '@ does not know this service, or not by this secret.',
    advice: ASK_OPERATOR,
  },
  not_set_up: { status: 503, title: NOT_NOW, description: 'The sign-in at @ is not set up completely.', advice: ASK_OPERATOR },
  code_refused: {
    status: 400,
    title: NOT_SIGNED_IN,
    description: '@ does not take its answer back: it was used already, or is too old.',
    advice: 'Start the sign-in again.',
    again: 'as before',
  },
  id_token_nonce: {
    status: 400,
    title: NOT_SIGNED_IN,
    description: 'What @ says belongs to another sign-in.',
    advice: TRY_AGAIN,
    again: 'as before',
  },
  id_token_issuer: { status: 502, title: NOT_SIGNED_IN, description: 'What @ says was signed in another’s name.', advice: ASK_OPERATOR },
  id_token_audience: { status: 502, title: NOT_SIGNED_IN, description: 'What @ says is meant for another service.', advice: ASK_OPERATOR },
  id_token_algorithm: {
    status: 502,
    title: NOT_SIGNED_IN,
    description: 'What @ says is signed in a way it never announced.',
    advice: ASK_OPERATOR,
  },
  id_token_signature: {
    status: 502,
    title: NOT_SIGNED_IN,
    description: 'What @ says is not signed with one of its keys.',
    advice: TRY_AGAIN,
    again: 'as before',
  },
  id_token_time: {
    status: 502,
    title: NOT_SIGNED_IN,
    description: 'What @ says has expired, or its clock and ours differ.',
    advice: TRY_AGAIN,
    again: 'as before',
  },
  no_address: {
    status: 403,
    title: 'This account can’t sign in',
    description: '@ did not say a company address for this account.',
    advice: 'Use another account, or ask whoever keeps the accounts at @.',
    again: 'another account',
  },
  unverified_address: {
    status: 403,
    title: 'This account can’t sign in',
    description: '@ has not verified the address of this account.',
    advice: 'Use another account, or ask whoever keeps the accounts at @.',
    again: 'another account',
  },
  foreign_domain: {
    status: 403,
    title: 'This account can’t sign in',
    description: 'This account at @ is not one of the company’s.',
    advice: 'Use your company account.',
    again: 'another account',
  },
  proved_long_ago: {
    status: 403,
    title: NOT_SIGNED_IN,
    description: 'You signed in at @ longer ago than is allowed here.',
    advice: 'Sign in there once more.',
    again: 'anew',
  },
  no_auth_time: {
    status: 502,
    title: NOT_SIGNED_IN,
    description: '@ does not say when you signed in there, and the application wants to know.',
    advice: ASK_OPERATOR,
  },
  not_kept: {
    status: 503,
    title: NOT_NOW,
    description: 'The sign-in could not be written down.',
    advice: 'Wait a few seconds and try again.',
    again: 'as before',
  },
} as const satisfies Record<string, Words>

export type Reason = keyof typeof REASONS
