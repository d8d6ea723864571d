import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { build, ROOT } from '../build.ts'
import { runCommand } from '../checks/command.ts'
import { node, quietWrangler, wranglerScript } from '../wrangler.ts'
import { authorizationQuery, CLIENT, codeOf, REDIRECT_URI } from './authorization.ts'
import type { Contender } from './contender.ts'
import { freePort } from './free-port.ts'
import { inParallel } from './in-parallel.ts'
import { drawPkce } from './pkce.ts'
import { compatibility } from './platform.ts'
import { type Documents, documents, people } from './sluis-documents.ts'
import { startWorkerd } from './workerd.ts'

/** Our Worker as it is deployed, on the embedded adapters. No rate limit is bound: a bench asks more often than any client may. */
export async function startSluis(): Promise<Contender> {
  const port = await freePort()
  const source = { name: 'sluis-edge', script: await bundle(documents), ...compatibility() }
  const running = await startWorkerd(port, source, {
    bindings: { ISSUER: `http://127.0.0.1:${port}`, SEAL_KEY: randomBytes(32).toString('base64url') },
    durableObjects: {
      STATE_SHARD: { className: 'StateShard', useSQLite: true },
      SEALED_SECRETS: { className: 'SealedSecrets', useSQLite: true },
    },
  })
  const cookies = await inParallel(people.length, 4, (at) => signIn(running.origin, people[at] ?? ''))
  let next = 0

  return {
    ...running,
    name: 'sluis-edge',
    target: { origin: running.origin, tokenPath: '/token', userinfoPath: '/userinfo', clientId: CLIENT, redirectUri: REDIRECT_URI },
    codes: (count) =>
      inParallel(count, 8, async () => {
        const { verifier, challenge } = drawPkce()
        const cookie = cookies[next++ % cookies.length] ?? ''
        const response = await fetch(`${running.origin}/authorize?${authorizationQuery(CLIENT, challenge)}`, {
          headers: { cookie },
          redirect: 'manual',
        })
        return { code: await codeOf(response), verifier }
      }),
  }
}

/** The Worker exactly as `wrangler deploy --minify` would send it, but for its documents. */
async function bundle({ service, policy }: Documents): Promise<string> {
  await build() // wrangler wants the assets in their place, measured or not
  await mkdir(join(ROOT, '.wrangler'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.wrangler/bench-'))
  const path = (file: string) => `./${relative(ROOT, join(folder, file)).split(sep).join('/')}` // an alias is cut at its colon
  try {
    await writeFile(join(folder, 'service.json'), JSON.stringify(service))
    await writeFile(join(folder, 'policy.json'), JSON.stringify(policy))
    const aliases = ['--alias', `sluis-service:${path('service.json')}`, '--alias', `sluis-policy:${path('policy.json')}`]
    const args = [wranglerScript, 'deploy', '--dry-run', '--env=', '--minify', '--outdir', folder, ...aliases]
    const { status, output } = await runCommand(node, args, { cwd: ROOT, env: quietWrangler() })
    if (status !== 0) throw new Error(`the Worker can't be bundled:\n${output}`)
    return await readFile(join(folder, 'worker.js'), 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Signs a person in as a browser does, and answers with the cookies of it: the next authorizations complete silently. */
async function signIn(origin: string, person: string): Promise<string> {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(path, origin), { ...init, redirect: 'manual', headers: { origin, cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const begun = await send(`/authorize?${authorizationQuery(CLIENT, drawPkce().challenge)}`)
  const auth = new URL(begun.headers.get('location') ?? '', origin).searchParams.get('auth') ?? ''
  await codeOf(await send('/login/picker', { method: 'POST', body: new URLSearchParams({ auth, person }) }))
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}
