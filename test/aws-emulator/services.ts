import { ACCOUNT, type Answer, type Call, type Received, Refusal, type Service, services, shortType } from './call.ts'
import type { Credential } from './credentials.ts'
import { dynamodb } from './dynamodb.ts'
import type { Fault, FaultPlan } from './faults.ts'
import { type Authorize, decide } from './iam.ts'
import { commonType, jsonAnswer, jsonInput, jsonRefusal, jsonTarget } from './json-protocol.ts'
import { kms } from './kms.ts'
import { count, type Requests } from './requests.ts'
import { s3, s3Refusal } from './s3.ts'
import { s3Operation } from './s3-request.ts'
import { verifier } from './signature.ts'
import { ssm } from './ssm.ts'

interface BackendOptions {
  region: string
  credentials: readonly Credential[]
  requests: Requests
  faults: FaultPlan
}

/** The four services behind one door: which is meant, whether the call is signed and allowed, what goes wrong with it, and its answer. */
export function backend({ region, credentials, requests, faults }: BackendOptions) {
  const { verify } = verifier({ region, credentials })
  const keys = kms({ region })
  const parameters = ssm({ region, kms: keys })
  const objects = s3({ region, kms: keys })
  const tables = dynamodb({
    region,
    eventual: () => {
      requests.eventual += 1
    },
  })

  async function carryOut(service: Service, call: Call): Promise<Answer> {
    if (service === 's3') return objects.call(call)
    const input = jsonInput(service, call.request)
    return jsonAnswer(service, await { dynamodb: tables, ssm: parameters, kms: keys }[service].call(call, input))
  }

  /** `cut`: the connection is to be closed without a word. */
  async function answer(request: Received, pause: (ms: number) => Promise<unknown>): Promise<Answer | 'cut'> {
    const { service, operation } = meant(request)
    const delay = faults.delay(service)
    if (delay > 0) await pause(delay)
    const fault = faults.draw(service, operation)
    if (fault !== null) count(requests.faults, typeof fault === 'string' ? fault : fault.type)
    if (fault === 'dropRequest') return 'cut'

    const answered = await refusing(service, async () => {
      const now = Date.now() + faults.clockOffset
      const caller = verify(service, request, now)
      if (fault !== null && fault !== 'dropAnswer') throw refusalOf(fault, service)
      count(requests.counts, `${service}.${operation}`)
      return carryOut(service, { operation, request, now, authorize: authorizer(caller, service) })
    })
    return fault === 'dropAnswer' ? 'cut' : answered
  }

  async function refusing(service: Service, work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      count(requests.refused, `${service}.${shortType(error.type)}`)
      return service === 's3' ? s3Refusal(error) : jsonRefusal(service, error)
    }
  }

  return {
    answer,
    async createTables(names: readonly string[]): Promise<void> {
      for (const name of names) await tables.createTable(name)
    },
    createBucket: (name: string) => objects.createBucket(name),
    createKey: (alias: string) => keys.createAlias(alias).arn,
    close: () => tables.close(),
  }
}

/** By `x-amz-target`, else by the scope of the signature; S3's calls have no target. */
function meant(request: Received): { service: Service; operation: string } {
  const target = jsonTarget(request)
  if (target !== null) return target
  const scope = /Credential=[^/]*\/\d*\/[^/]*\/([a-z0-9]*)\//.exec(request.headers.authorization ?? '')?.[1]
  const service = services.find((name) => name === scope) ?? 's3'
  // What is unknown is said again, and answered, once the call is known to be signed.
  return { service, operation: service === 's3' ? s3Operation(request) : 'unknown' }
}

function refusalOf(fault: Exclude<Fault, 'dropAnswer' | 'dropRequest'>, service: Service): Refusal {
  if (typeof fault === 'object') {
    const type = service === 'dynamodb' ? dynamodbType(fault.type) : fault.type
    return new Refusal(type, fault.message ?? 'a fault that was asked for', fault.status)
  }
  if (fault === 'fail') return new Refusal(internalErrors[service], 'We encountered an internal error. Please try again.', 500)
  switch (service) {
    case 's3':
      return new Refusal('SlowDown', 'Please reduce your request rate.', 503)
    case 'dynamodb':
      return new Refusal(dynamodbType('ProvisionedThroughputExceededException'), 'The level of configured throughput was exceeded.')
    default:
      return new Refusal('ThrottlingException', 'Rate exceeded')
  }
}

const internalErrors: Record<Service, string> = {
  dynamodb: dynamodbType('InternalServerError'),
  ssm: 'InternalServerError',
  kms: 'KMSInternalException',
  s3: 'InternalError',
}

/** What DynamoDB's engine says has one namespace, what its front end says another. */
function dynamodbType(type: string): string {
  const front = /^(?:ThrottlingException|UnrecognizedClientException|AccessDeniedException|ValidationException|InvalidSignatureException)$/
  return front.test(type) ? commonType('dynamodb', type) : `com.amazonaws.dynamodb.v20120810#${type}`
}

function authorizer(caller: Credential, service: Service): Authorize {
  return (action, resource, context) => {
    const decision = caller.policy === undefined ? 'allowed' : decide(caller.policy, action, resource, context)
    if (decision === 'allowed') return
    if (service === 's3') throw new Refusal('AccessDenied', 'Access Denied', 403)
    const because =
      decision === 'denied'
        ? 'with an explicit deny in an identity-based policy'
        : `because no identity-based policy allows the ${action} action`
    const user = `arn:aws:iam::${ACCOUNT}:user/${caller.accessKeyId}`
    throw new Refusal(
      commonType(service, 'AccessDeniedException'),
      `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${because}`,
    )
  }
}
