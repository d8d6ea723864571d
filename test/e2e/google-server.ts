import { once } from 'node:events'
import { createServer } from 'node:http'
import { type FakeGoogle, fakeGoogle } from '../google/fake-google.ts'
import type { Tenant } from '../google/tenant.ts'

export interface GoogleServer extends AsyncDisposable {
  google: FakeGoogle
  /** `http://127.0.0.1:<port>`: what stands in for Google's addresses. */
  origin: string
}

/** The fake Google behind a port of this machine's loopback, for a service that runs beside the test. */
export async function startGoogle(tenant: Tenant): Promise<GoogleServer> {
  const server = createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const chunk of request) body.push(chunk)
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    )
    const method = request.method ?? 'GET'
    const sent = method === 'GET' || method === 'HEAD' ? {} : { body: Buffer.concat(body) }
    const answer = await google.fetch(new Request(`${origin}${request.url}`, { method, headers, ...sent })).catch(() => null)
    if (answer === null) {
      response.destroy() // a fault that has the connection break
      return
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const origin = `http://127.0.0.1:${address.port}`
  const google = await fakeGoogle({ tenant, clock: { now: () => Date.now() }, origin })
  return {
    google,
    origin,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
