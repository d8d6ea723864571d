import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startIssuer } from '../test/e2e/start-issuer.ts'
import { freePort } from './bench/free-port.ts'
import { ROOT } from './build.ts'
import { withPlanted } from './checks/planted.ts'

async function run(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'scripts/dev.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

test('a port that is taken is named, with another to try', async () => {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  try {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { code, output } = await run('--port', String(port))
    expect(code).toBe(1)
    expect(output).toBe(`port ${port} of 127.0.0.1 is taken by another program. Another one: npm start -- --port ${port + 1}\n`)
  } finally {
    server.close()
  }
})

test('an option that does not exist is refused, with those that do', async () => {
  for (const args of [['--prot', '1'], ['--port', 'x'], ['--port', '0'], ['here']]) {
    const { code, output } = await run(...args)
    expect(code).toBe(1)
    expect(output).toContain('--persist-to DIR')
  }
})

test('npm start makes an issuer on a port of its choosing, and nothing it writes holds a secret', async () => {
  await using running = await startIssuer({ cron: true })
  const discovery = await fetch(`${running.issuer}/.well-known/openid-configuration`)
  expect(await discovery.json()).toMatchObject({ issuer: running.issuer })

  expect([...running.secrets.keys()]).toEqual(['SEAL_KEY', 'OPS_KEY', 'BACKEND_CLIENT_SECRET'])
  expect(running.output()).toMatch(/sign in as +ada@acme\.example, grace@acme\.example, katherine@acme\.example/)
  expect(running.output()).toMatch(/secret of backend +BACKEND_CLIENT_SECRET in /)
  expect(running.output()).not.toContain('warning:')
  for (const secret of running.secrets.values()) expect(running.output()).not.toContain(secret)
})

test('npm start ends when npm is gone, though nobody told it', async () => {
  await withPlanted({ keep: '' }, async (root) => {
    const port = await freePort()
    const command = [
      process.execPath,
      join(ROOT, 'scripts/dev.ts'),
      '--no-cron',
      '--port',
      port,
      '--persist-to',
      `${root}/state`,
      '--vars',
      `${root}/vars`,
    ]
    const shell = spawn('sh', ['-c', `${command.join(' ')}; true`], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise<void>((ready) => shell.stdout.setEncoding('utf8').on('data', (text: string) => text.includes('is ready') && ready()))
    const closed = new Promise((resolve) => shell.once('close', resolve)) // when the last that writes to it has ended
    shell.kill('SIGKILL')
    await closed
    await expect(fetch(`http://localhost:${port}/healthz`)).rejects.toThrow()
  })
})

test('records outlive a restart, and nothing is left running after the end', async () => {
  const running = await startIssuer()
  try {
    const keys = async () => (await fetch(`${running.issuer}/keys`)).json()
    const before = await keys()
    await running.restart()
    expect(await keys()).toEqual(before)
  } finally {
    await running.stop()
  }
  await expect(fetch(`${running.issuer}/healthz`)).rejects.toThrow()
})
