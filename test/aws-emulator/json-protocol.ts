import { crc32 } from 'node:zlib'
import type * as z from 'zod'
import { type Answer, type Received, Refusal, type Service, shortType } from './call.ts'

type JsonService = Exclude<Service, 's3'>

const targets: Record<JsonService, { prefix: string; contentType: string; common: string }> = {
  dynamodb: { prefix: 'DynamoDB_20120810', contentType: 'application/x-amz-json-1.0', common: 'com.amazon.coral.service#' },
  ssm: { prefix: 'AmazonSSM', contentType: 'application/x-amz-json-1.1', common: '' },
  kms: { prefix: 'TrentService', contentType: 'application/x-amz-json-1.1', common: '' },
}

/** The service and operation that `x-amz-target` names; null when it names none of ours. */
export function jsonTarget(request: Received): { service: JsonService; operation: string } | null {
  const [prefix, operation, ...rest] = (request.headers['x-amz-target'] ?? '').split('.')
  const service = (Object.keys(targets) as JsonService[]).find((name) => targets[name].prefix === prefix)
  return service === undefined || operation === undefined || operation === '' || rest.length > 0 ? null : { service, operation }
}

/** A type that every service of AWS answers with, as this one spells it. */
export function commonType(service: JsonService, type: string): string {
  return targets[service].common + type
}

/** The input of a JSON call. @throws Refusal of what is not POST to `/` with the protocol's content type and a JSON object */
export function jsonInput(service: JsonService, request: Received): Record<string, unknown> {
  const contentType = request.headers['content-type']?.split(';')[0]?.trim()
  if (request.method !== 'POST' || request.path !== '/' || request.query.length > 0 || contentType !== targets[service].contentType) {
    throw new Refusal(commonType(service, 'UnknownOperationException'), `POST / with content-type ${targets[service].contentType}`, 404)
  }
  try {
    const input: unknown = JSON.parse(request.body.toString())
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>
  } catch {}
  throw new Refusal(commonType(service, 'SerializationException'), 'the body is not a JSON object')
}

/** The input as an operation takes it. What AWS has no member for is dropped, as AWS does. @throws Refusal ValidationException */
export function validInput<Schema extends z.ZodType>(schema: Schema, input: Record<string, unknown>): z.infer<Schema> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => `Value at '${issue.path.join('.')}' failed to satisfy constraint: ${issue.message}`)
  throw new Refusal(
    'ValidationException',
    `${problems.length} validation error${problems.length > 1 ? 's' : ''} detected: ${problems.join('; ')}`,
  )
}

export function jsonAnswer(service: JsonService, output: object): Answer {
  return answer(service, 200, JSON.stringify(output))
}

export function jsonRefusal(service: JsonService, refusal: Refusal): Answer {
  // DynamoDB's front end spells it with a capital, its engine does not.
  const capital = service === 'dynamodb' && /^(?:SerializationException|AccessDeniedException)$/.test(shortType(refusal.type))
  const body = { __type: refusal.type, [capital ? 'Message' : 'message']: refusal.message, ...refusal.fields }
  return answer(service, refusal.status, JSON.stringify(body))
}

function answer(service: JsonService, status: number, body: string): Answer {
  const headers: Record<string, string> = { 'content-type': targets[service].contentType }
  if (service === 'dynamodb') headers['x-amz-crc32'] = String(crc32(body))
  return { status, headers, body }
}
