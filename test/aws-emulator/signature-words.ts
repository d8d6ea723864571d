import { Refusal, type Service } from './call.ts'

export interface SignedAt {
  /** As sent: 20301231T235959Z. */
  text: string
  /** unix ms */
  at: number
}

/** How each service says what is wrong with a signature. */
export interface Words {
  missing(message: string): Refusal
  incomplete(message: string): Refusal
  scope(message: string): Refusal
  unknownKey(): Refusal
  wrongToken(): Refusal
  unsignedHeaders(names: string[]): Refusal
  skewed(date: SignedAt, now: number, allowed: number): Refusal
  wrongPayloadHash(claimed: string, actual: string): Refusal
  mismatch(canonical: string, toSign: string): Refusal
}

export function wordsOf(service: Service): Words {
  if (service === 's3') return s3Words
  return service === 'dynamodb' ? dynamodbWords : plainWords
}

function jsonWords(common: string): Words {
  const invalid = (message: string) => new Refusal(`${common}InvalidSignatureException`, message)
  const unrecognized = () => new Refusal(`${common}UnrecognizedClientException`, 'The security token included in the request is invalid.')
  return {
    missing: (message) => new Refusal(`${common}MissingAuthenticationTokenException`, message),
    incomplete: (message) => new Refusal(`${common}IncompleteSignatureException`, message),
    scope: invalid,
    unknownKey: unrecognized,
    wrongToken: unrecognized,
    unsignedHeaders: (names) => invalid(names.map((name) => `'${name}' must be a 'SignedHeader' in the AWS Authorization.`).join(' ')),
    skewed(date, now, allowed) {
      const minutes = allowed / 60_000
      return date.at < now
        ? invalid(`Signature expired: ${date.text} is now earlier than ${basic(now - allowed)} (${basic(now)} - ${minutes} min.)`)
        : invalid(`Signature not yet current: ${date.text} is still later than ${basic(now + allowed)} (${basic(now)} + ${minutes} min.)`)
    },
    wrongPayloadHash: (claimed, actual) => invalid(`x-amz-content-sha256 is ${claimed}, the body's is ${actual}`),
    mismatch: (canonical, toSign) =>
      invalid(
        `The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.\n\nThe Canonical String for this request should have been\n'${canonical}'\n\nThe String-to-Sign should have been\n'${toSign}'\n`,
      ),
  }
}

const dynamodbWords = jsonWords('com.amazon.coral.service#')
const plainWords = jsonWords('')

const s3Words: Words = {
  missing: () => new Refusal('AccessDenied', 'Access Denied', 403),
  incomplete: (message) => new Refusal('AuthorizationHeaderMalformed', message),
  scope: (message) => new Refusal('AuthorizationHeaderMalformed', `The authorization header is malformed; ${message}`),
  unknownKey: () => new Refusal('InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.', 403),
  wrongToken: () => new Refusal('InvalidToken', 'The provided token is malformed or otherwise invalid.'),
  unsignedHeaders: (names) =>
    new Refusal('AccessDenied', 'There were headers present in the request which were not signed', 403, {
      HeadersNotSigned: names.join(', '),
    }),
  skewed: (date, now, allowed) =>
    new Refusal('RequestTimeTooSkewed', 'The difference between the request time and the current time is too large.', 403, {
      RequestTime: date.text,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: allowed,
    }),
  wrongPayloadHash: (claimed, actual) =>
    new Refusal('XAmzContentSHA256Mismatch', "The provided 'x-amz-content-sha256' header does not match what was computed.", 400, {
      ClientComputedContentSHA256: claimed,
      S3ComputedContentSHA256: actual,
    }),
  mismatch: (canonical, toSign) =>
    new Refusal(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      403,
      { StringToSign: toSign, CanonicalRequest: canonical },
    ),
}

/** 20301231T235959Z */
function basic(at: number): string {
  return `${new Date(at).toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`
}
