import { authorizationQuery, codeOf, REDIRECT_URI } from './authorization.ts'
import { bundleWorker } from './bundle.ts'
import type { Contender } from './contender.ts'
import { freePort } from './free-port.ts'
import { inParallel } from './in-parallel.ts'
import { drawPkce } from './pkce.ts'
import { compatibility } from './platform.ts'
import { startWorkerd } from './workerd.ts'

/** `@cloudflare/workers-oauth-provider`, with the KV namespace it keeps its records in. It signs nothing: its tokens are opaque. */
export async function startEdgePeer(): Promise<Contender> {
  const port = await freePort()
  const source = { name: 'edge-peer', script: await bundleWorker('edge-peer.ts'), ...compatibility() }
  const bindings = { ORIGIN: `http://127.0.0.1:${port}`, REDIRECT_URI }
  const running = await startWorkerd(port, source, { bindings, kvNamespaces: ['OAUTH_KV'] })
  const clientId = await register(running.origin)
  let people = 0

  return {
    ...running,
    name: 'workers-oauth-provider',
    target: { origin: running.origin, tokenPath: '/token', userinfoPath: '/userinfo', clientId, redirectUri: REDIRECT_URI },
    codes: (count) =>
      inParallel(count, 8, async () => {
        const { verifier, challenge } = drawPkce()
        const query = authorizationQuery(clientId, challenge, { login_hint: `person-${people++}` })
        const response = await fetch(`${running.origin}/authorize?${query}`, { redirect: 'manual' })
        return { code: await codeOf(response), verifier }
      }),
  }
}

async function register(origin: string): Promise<string> {
  const answer: unknown = await (await fetch(`${origin}/client`)).json()
  if (typeof answer === 'object' && answer !== null && 'client_id' in answer && typeof answer.client_id === 'string')
    return answer.client_id
  throw new Error(`workers-oauth-provider registered no client: ${JSON.stringify(answer)}`)
}
