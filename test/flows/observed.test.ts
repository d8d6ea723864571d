import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { blobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { createApp } from '../../src/app.ts'
import { openAudit } from '../../src/audit/audit.ts'
import { blobSink } from '../../src/audit/blob-sink.ts'
import { compose, type Env, type Services } from '../../src/compose.ts'
import { PortError } from '../../src/ports/error.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { createMeter, type Series } from '../../src/telemetry/metrics.ts'
import { exchange, random, signedIn, startService, type TestService, testStore } from './harness.ts'

/** The same service with another audit or meter. */
function observing(service: TestService, changes: Partial<Services>): TestService {
  const services = { ...service.services, ...changes }
  services.issuer = { ...services.issuer, ...(changes.meter === undefined ? {} : { metrics: changes.meter }) }
  const app = createApp(services)
  const later: Promise<unknown>[] = []
  const context = { waitUntil: (work: Promise<unknown>) => void later.push(work), passThroughOnException: () => {}, props: {} }
  return {
    ...service,
    services,
    async fetch(input, init) {
      const request = input instanceof Request ? input : new Request(new URL(input, service.url), { redirect: 'manual', ...init })
      return app.fetch(request, {} as never, context)
    },
    async afterwards() {
      while (later.length > 0) await later.shift()
    },
  }
}

function refresh(service: TestService, refresh_token: string): Promise<Response> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token, client_id: 'demo' })
  return service.fetch('/token', { method: 'POST', body })
}

function requestLines(service: TestService) {
  return service.logs.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
}

describe('a request', () => {
  it('says in its line how many calls of stores it made, and how long it waited for them', async () => {
    const service = startService(testStore('memory'))
    const { refresh_token } = await signedIn(service)
    await refresh(service, refresh_token)
    await service.fetch('/healthz')
    const [token, health] = requestLines(service).slice(-2)
    expect(token).toMatchObject({ route: '/token', status: 200, calls: 5, store_ms: 0 })
    expect(health).toMatchObject({ route: '/healthz' })
    expect(health).not.toHaveProperty('calls')
  })

  it('is counted, with its grant and its calls, and nobody is in it', async () => {
    const sent: Series[] = []
    const meter = createMeter((series) => sent.push(...series))
    const service = observing(startService(testStore('memory')), { meter })
    const { refresh_token } = await signedIn(service)
    sent.length = 0
    await refresh(service, refresh_token)
    await exchange(service, 'slc_nothing')
    const counted = sent.map(({ name, labels, count }) => `${name} ${labels.join(' ')} ${count}`)
    expect(counted).toContain('requests /token POST 200 1')
    expect(counted).toContain('requests /token POST 400 1')
    expect(counted).toContain('grants refresh_token granted 1')
    expect(counted).toContain('grants authorization_code invalid_grant 1')
    expect(counted).toContain('port.calls state update ok 1')
    expect(JSON.stringify(sent)).not.toMatch(/ada|acme|sl[rc]_/)
  })
})

describe('what a request has audited', () => {
  function withObjects(fails = false) {
    const store = testStore('memory')
    const memory = blobMemory()
    const blob = memoryBlob({ memory })
    const write: typeof blob.write = (...call) =>
      fails ? Promise.reject(new PortError('Unavailable', 'the bucket is away')) : blob.write(...call)
    const sink = blobSink({ blob: { ...blob, write }, module: 'oidc', clock: store.clock, random })
    const service = observing(startService(store), { audit: [sink] })
    const objects = () => [...memory.objects.values()].map(({ body }) => new TextDecoder().decode(body).trimEnd().split('\n'))
    return { service, objects, sink }
  }

  it('is one object, written after its answer, under the request’s id', async () => {
    const { service, objects } = withObjects()
    const answer = await exchange(service, 'slc_nothing')
    await service.afterwards()
    const [lines = []] = objects()
    expect(objects()).toHaveLength(1)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'token.refused', client: 'demo', request_id: answer.headers.get('sluis-request-id') },
    ])
    await service.fetch('/healthz')
    await service.afterwards()
    expect(objects()).toHaveLength(1)
  })

  it('is missed in the log when it can’t be written, and the answer is as it was', async () => {
    const { service, objects } = withObjects(true)
    expect((await exchange(service, 'slc_nothing')).status).toBe(400)
    await service.afterwards()
    expect(objects()).toEqual([])
    const missed = service.logs.map((line) => JSON.parse(line)).filter(({ event }) => event === 'audit.unwritten')
    expect(missed.map(({ level, count, attempt }) => [level, count, attempt])).toEqual([
      ['warn', 1, 1],
      ['error', 1, 2],
    ])
    expect(missed[0]?.request_id).toMatch(/^[A-Za-z0-9_-]{22}$/)
  })

  it('holds up what must be audited when it can’t be written', async () => {
    const { sink, service } = withObjects(true)
    const audit = openAudit([sink], service.services.auditing)
    await expect(audit.durably({ event: 'recovery.signed_in', subject: 'recovery', how: 'recovery' })).rejects.toMatchObject({
      code: 'Unavailable',
    })
  })
})

it('what service.yaml says of the audit is where events go: to the bucket, and to lines', async () => {
  const bindings = env as unknown as Env
  const { documents, clock } = testStore('memory')
  documents.service.audit = ['log', 'blob']
  const lines: string[] = []
  const platform = { clock, random, fetch: () => Promise.reject(new TypeError('there is no network')), log: noLog }
  const services = compose(bindings, documents, { ...platform, write: (line) => void lines.push(line) })
  const later: Promise<unknown>[] = []
  const context = { waitUntil: (work: Promise<unknown>) => void later.push(work), passThroughOnException: () => {}, props: {} }
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'slr_nothing', client_id: 'demo' })
  const answer = await createApp(services).fetch(new Request(`${services.issuer.url}/token`, { method: 'POST', body }), bindings, context)
  await Promise.all(later)

  const request_id = answer.headers.get('sluis-request-id')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ audit: true, event: 'token.refused', client: 'demo', request_id }])
  const { objects } = await bindings.BLOBS.list({ prefix: 'oidc/audit/2026-11-30/12/' })
  const texts = await Promise.all(objects.map(async ({ key }) => (await bindings.BLOBS.get(key))?.text()))
  expect(texts.filter((text) => text?.includes(String(request_id)))).toHaveLength(1)
})
