import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { CLIENT, REDIRECT_URI } from './authorization.ts'
import type { Contender } from './contender.ts'
import type { Said } from './node-peer-server.ts'

/** `oidc-provider` on Node, in a process of its own, its records in memory. */
export async function startNodePeer(): Promise<Contender> {
  const child = fork(fileURLToPath(new URL('node-peer-server.ts', import.meta.url)), {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let lines = 0
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines++
      said = `${said}${line}\n`.slice(-2_000)
    })
  }
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`oidc-provider ended with ${code ?? signal}:\n${said}`)))
  })
  ended.catch(() => undefined) // it is told to whoever waits for an answer
  const heard = async <T>(pick: (message: Said) => T | undefined): Promise<T> => {
    const { promise, resolve } = Promise.withResolvers<T>()
    const listen = (message: Said) => {
      const picked = pick(message)
      if (picked !== undefined) resolve(picked)
    }
    child.on('message', listen)
    return Promise.race([promise, ended]).finally(() => child.off('message', listen))
  }
  const port = await heard((message) => ('listening' in message ? message.listening : undefined))
  const origin = `http://127.0.0.1:${port}`

  return {
    name: 'oidc-provider (Node)',
    origin,
    target: { origin, tokenPath: '/token', userinfoPath: '/me', clientId: CLIENT, redirectUri: REDIRECT_URI },
    pid: child.pid ?? null,
    logLines: () => lines,
    codes(count) {
      const codes = heard((message) => ('codes' in message ? message.codes : undefined))
      if (child.connected) child.send(count)
      return codes
    },
    async stop() {
      child.kill()
      await ended.catch(() => undefined)
    },
  }
}
