import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { AwsEmulator } from './emulator.ts'

type Headers = Record<string, string>

export interface Plan {
  service: string
  method?: string
  /** As it stands in the URL, encoded. */
  path?: string
  /** Not encoded. */
  query?: Record<string, string>
  headers?: Headers
  body?: string
  /** unix ms the signature says it was made at */
  at?: number
  region?: string
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
}

interface Signed {
  url: string
  method: string
  headers: Headers
  body?: string
}

/** A request as AWS's own signer signs it, for tests to send as it is or to spoil. */
export async function sign(emulator: AwsEmulator, plan: Plan): Promise<Signed> {
  const { host, hostname, protocol } = new URL(emulator.url)
  const { service, method = 'POST', path = '/', query = {}, body, credentials = emulator.credentials[0] } = plan
  const signer = new SignatureV4({
    service,
    region: plan.region ?? emulator.region,
    credentials,
    sha256: NodeSha256,
    uriEscapePath: service !== 's3',
    applyChecksum: service === 's3',
  })
  const headers = { host, ...plan.headers }
  const request = { method, protocol, hostname, path, query, headers, ...(body === undefined ? {} : { body }) }
  const signed = await signer.sign(request, { signingDate: new Date(plan.at ?? Date.now()) })
  const search = Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  const url = `${emulator.url}${path}${search.length > 0 ? `?${search.join('&')}` : ''}`
  return { url, method, headers: { ...signed.headers }, ...(body === undefined ? {} : { body }) }
}

export async function send({ url, ...init }: Signed): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url, init)
  return { status: response.status, text: await response.text(), headers: Object.fromEntries(response.headers) }
}

/** A call of DynamoDB, the plainest there is. */
export const listTables: Plan = {
  service: 'dynamodb',
  headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.ListTables' },
  body: '{}',
}

/** What the signer wants of a hash. */
class NodeSha256 {
  private hash
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytes(secret))
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytes(data))
  }
  async digest(): Promise<Uint8Array> {
    return this.hash.digest()
  }
  reset(): void {}
}

function bytes(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data)
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data)
}
