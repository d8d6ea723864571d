import { PortError } from '../../ports/error.ts'
import type { Bytes } from '../../ports/platform.ts'

/** The services the adapters speak to. */
export type AwsService = 'dynamodb' | 'ssm' | 'kms' | 's3'

export interface AwsCredentials {
  accessKeyId: string
  secretAccessKey: string
  /** Of temporary credentials. */
  sessionToken?: string | undefined
}

/** A call of the JSON protocol, whose input and answer are objects: DynamoDB, SSM, KMS. */
export interface JsonCall {
  /** Such as `GetItem`. */
  operation: string
  input: Record<string, unknown>
  /**
   * False for a call that must not reach the service twice. It is still sent again after an answer that says it was not carried out:
   * throttled, or signed by a clock that is off.
   */
  repeatable?: boolean
}

/** A call of S3. */
export interface S3Call {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  /** The object's key; absent for the bucket itself. Encoded by the client. */
  key?: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Bytes
  repeatable?: boolean
}

export interface JsonClient {
  /** The answer's object. @throws AwsError the service refused. PortError Unavailable: it could not be asked, or did not answer */
  call(call: JsonCall): Promise<Record<string, unknown>>
}

export interface S3Client {
  /** A 2xx answer, its body unread: the caller reads or cancels it. @throws AwsError, PortError as JsonClient */
  send(call: S3Call): Promise<Response>
}

/**
 * A service said no, for good: throttles and 5xx have been retried before, and end as Unavailable.
 * `type` is the contract, such as `ConditionalCheckFailedException` or, of S3, `NoSuchKey`; the message is for logs.
 */
export class AwsError extends Error {
  override readonly name = 'AwsError'
  readonly type: string
  /** HTTP. */
  readonly status: number
  /** The JSON answer; empty for S3. A refusal about the signature is without its words, which quote the request and its session token. */
  readonly body: Readonly<Record<string, unknown>>
  /** An earlier attempt of this call went out and its answer never came: it may have been carried out, and this may be the refusal of its repetition. */
  readonly mayHaveLanded: boolean

  constructor(type: string, message: string, at: { status: number; body?: Record<string, unknown>; mayHaveLanded: boolean }) {
    super(`${type}: ${message}`)
    this.type = type
    this.status = at.status
    this.body = at.body ?? {}
    this.mayHaveLanded = at.mayHaveLanded
  }
}

/** True when a service refused with one of these types. */
export function isAwsError(error: unknown, ...types: string[]): error is AwsError {
  return error instanceof AwsError && (types.length === 0 || types.includes(error.type))
}

/**
 * What an operator can do about a failure no flow can, in one sentence that holds no address of theirs; null for one that passes.
 *
 * @param resource what was asked, such as `table sluis-acme-oidc`
 */
function advice(error: AwsError, resource: string): string {
  switch (error.type) {
    case 'ResourceNotFoundException':
      return `${resource} does not exist in this region: npm run tables creates it`
    case 'AccessDeniedException':
    case 'AccessDenied':
      return `the credentials have no permission for ${resource}: npm run iam prints what they need`
    case 'UnrecognizedClientException':
    case 'InvalidClientTokenId':
    case 'InvalidAccessKeyId':
    case 'ExpiredTokenException':
    case 'ExpiredToken':
      return `the access key is not known, or has expired (asked for ${resource})`
    case 'InvalidSignatureException':
    case 'SignatureDoesNotMatch':
      return `the secret access key does not belong to the access key, or the clock is off (asked for ${resource})`
    case 'RequestTimeTooSkewed':
    case 'RequestExpired':
    case 'RequestInTheFuture':
      return `the clock is off (asked for ${resource})`
    case 'PermanentRedirect':
    case 'TemporaryRedirect':
    case 'AuthorizationHeaderMalformed':
      return `${resource} is in another region, or its endpoint is another`
    case 'NoSuchBucket':
      return `${resource} does not exist`
    case 'NotFoundException':
      return `${resource} does not exist in this region: make it there, or name another in the service document`
    case 'DisabledException':
    case 'KMSInvalidStateException':
      return `${resource} is disabled or waits to be deleted: enable it again, what it sealed opens with no other`
    default:
      return `${resource} answered ${error.type}`
  }
}

/** Any failure of a call as the port says it: a PortError passes, everything else is Unavailable with its cause and what to do about it. */
export function awsUnavailable(error: unknown, resource: string): PortError {
  if (error instanceof PortError) return error
  const message = error instanceof AwsError ? advice(error, resource) : `${resource} could not be asked`
  return new PortError('Unavailable', message, { cause: error })
}
