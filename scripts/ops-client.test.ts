import { createHash, createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { utf8 } from '../src/crypto/bytes.ts'
import { callOps, type OpsDependencies, OpsError } from './ops-client.ts'

const key = Buffer.alloc(32, 7)
const target = { issuer: 'http://localhost:8787', instance: 'dev', opsKey: key.toString('base64url') }
const put = { command: 'secret.put', path: 'internal/oidc/clients/backend', value: utf8('s3cret') } as const

/** A call that gets this answer, and what was sent for it. */
function answering(answer: () => Response) {
  const sent: { url: string; init: RequestInit }[] = []
  const with_: OpsDependencies = {
    now: () => 1_700_000_000_999,
    random: (length) => new Uint8Array(length).fill(1),
    fetch: async (url, init) => {
      sent.push({ url, init })
      return answer()
    },
  }
  return { with_, sent }
}

test('a call is signed over instance, method, path, time, nonce and body', async () => {
  const { with_, sent } = answering(() => Response.json({ ok: true, version: '7' }))
  expect(await callOps(target, put, with_)).toEqual({ ok: true, version: '7' })

  const [{ url, init } = { url: '', init: {} }] = sent
  const body = '{"command":"secret.put","path":"internal/oidc/clients/backend","value":"czNjcmV0"}'
  expect(url).toBe('http://localhost:8787/ops')
  expect(init.body).toBe(body)
  const nonce = Buffer.alloc(16, 1).toString('base64url')
  const digest = createHash('sha256').update(body).digest('hex')
  const signed = `sluis-ops-v1\ndev\nPOST\n/ops\n1700000000\n${nonce}\n${digest}`
  expect(init.headers).toEqual({
    'content-type': 'application/json',
    'sluis-time': '1700000000',
    'sluis-nonce': nonce,
    'sluis-signature': createHmac('sha256', key).update(signed).digest('hex'),
  })
})

test('a redirect is not followed: a signature is for one place', async () => {
  const { with_, sent } = answering(() => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }))
  await expect(callOps(target, put, with_)).rejects.toMatchObject({ code: 'unreachable', status: 302 })
  expect(sent[0]?.init.redirect).toBe('manual')
  expect(sent).toHaveLength(1)
})

test('a refusal says its code, its status and why', async () => {
  const { with_ } = answering(() => Response.json({ error: 'nonce_used', error_description: 'carried out before' }, { status: 409 }))
  const refused = callOps(target, put, with_)
  await expect(refused).rejects.toBeInstanceOf(OpsError)
  await expect(refused).rejects.toMatchObject({ code: 'nonce_used', status: 409, message: 'nonce_used: carried out before' })
})

test('an answer that is none of the route is not taken for one', async () => {
  for (const answer of [
    () => new Response('ok'),
    () => Response.json({}),
    () => Response.json([]),
    () => new Response('', { status: 502 }),
  ]) {
    await expect(callOps(target, put, answering(answer).with_)).rejects.toMatchObject({ code: 'unreachable' })
  }
})

test('a network that fails is said to', async () => {
  const { with_ } = answering(() => Promise.reject(new TypeError('refused')) as never)
  await expect(callOps(target, put, with_)).rejects.toMatchObject({ code: 'unreachable', status: 0 })
})

test('a key that is not 32 bytes signs nothing', async () => {
  const { with_, sent } = answering(() => Response.json({ ok: true }))
  for (const opsKey of ['', 'short', 'ä', Buffer.alloc(31).toString('base64url')]) {
    await expect(callOps({ ...target, opsKey }, put, with_)).rejects.toMatchObject({ code: 'bad_key' })
  }
  expect(sent).toEqual([])
})
