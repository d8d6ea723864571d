import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** A request as a client's server received it. */
export interface Received {
  method: string
  path: string
  /** Of the address, or of the form that was posted. */
  parameters: Record<string, string>
}

/** A client, or anybody else, that listens on a port of this computer. */
export interface LoopbackServer extends AsyncDisposable {
  port: number
  /** The next request that nobody asked for yet, whether it has come or will. */
  next(): Promise<Received>
}

/** Answers every address with a page: its own, where `pages` has one by path. `await using` ends it also when the test fails. */
export async function loopbackServer(pages: Readonly<Record<string, string>> = {}): Promise<LoopbackServer> {
  const queue: Received[] = []
  const waiting: ((received: Received) => void)[] = []
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    const body = await text(request)
    const html = pages[pathname] ?? '<title>The client</title><h1>Back at the client</h1>'
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<!doctype html><link rel="icon" href="data:,">${html}`)
    if (pathname in pages) return
    const received = {
      method: request.method ?? '',
      path: pathname,
      parameters: Object.fromEntries(new URLSearchParams(request.method === 'POST' ? body : search)),
    }
    const asked = waiting.shift()
    if (asked === undefined) queue.push(received)
    else asked(received)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('a TCP server has an address and a port')
  return {
    port: address.port,
    next: () => {
      const come = queue.shift()
      return come === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(come)
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
