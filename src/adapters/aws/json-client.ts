import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import type { JsonClient } from './aws.ts'
import { jsonEndpoint } from './endpoint.ts'
import { readCapped } from './read-capped.ts'
import { jsonObject, readJsonRefusal } from './refusal.ts'
import { type ClientOptions, signedFetch } from './signed-fetch.ts'

export interface JsonClientOptions extends ClientOptions {
  service: 'dynamodb' | 'ssm' | 'kms'
}

const PROTOCOLS = {
  dynamodb: { target: 'DynamoDB_20120810', version: '1.0' },
  ssm: { target: 'AmazonSSM', version: '1.1' },
  kms: { target: 'TrentService', version: '1.1' },
} as const

/** bytes: a page of DynamoDB is 1 MB of items, which names of attributes and base64 make several times as long; an isolate has 128 MB */
const ANSWER_CAP = 16 * 1024 * 1024

/** A client of one service that speaks AWS JSON, for one set of credentials. Opening it asks nothing. */
export function jsonClient(options: JsonClientOptions): JsonClient {
  const { service } = options
  const { target, version } = PROTOCOLS[service]
  const url = jsonEndpoint(service, options.region, options.endpoint)
  const send = signedFetch(service, options)

  return {
    call: ({ operation, input, repeatable = true }) =>
      send({
        what: `${service} ${operation}`,
        method: 'POST',
        url,
        headers: { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': `${target}.${operation}` },
        body: utf8(JSON.stringify(input)),
        repeatable,
        read: readAnswer,
        refusal: readJsonRefusal,
      }),
  }
}

/** Null for what is no JSON object, an empty body too: taken for `{}` it would say that a record is absent. */
async function readAnswer(response: Response): Promise<Record<string, unknown> | null> {
  const bytes = await readCapped(response, ANSWER_CAP)
  return bytes === null ? null : jsonObject(fromUtf8(bytes))
}
