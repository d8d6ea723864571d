import { describe, expect, it } from 'vitest'
import { utf8 } from '../crypto/bytes.ts'
import { isForm, readBytes, readForm, readJson } from './body.ts'
import { OAuthError } from './oauth-error.ts'

const FORM = 'application/x-www-form-urlencoded'

function post(body: BodyInit | null, type?: string, headers: Record<string, string> = {}): Request {
  const request = new Request('https://issuer.example/token', { method: 'POST', body, headers })
  if (type === undefined) request.headers.delete('content-type')
  else request.headers.set('content-type', type)
  return request
}

async function refusalOf(promise: Promise<unknown>): Promise<{ code: string; status: number; description: string }> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OAuthError)) throw new Error('was not refused')
  return { code: error.code, status: error.status, description: error.description }
}

/** A body that says nothing of its length and comes in pieces. */
function streamed(pieces: string[], state: { cancelled?: boolean } = {}): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream({
    pull(controller) {
      const next = left.shift()
      if (next === undefined) controller.close()
      else controller.enqueue(utf8(next))
    },
    cancel() {
      state.cancelled = true
    },
  })
}

describe('readForm', () => {
  it.each([FORM, `${FORM};charset=UTF-8`, `${FORM}; charset="utf-8"`, 'Application/X-WWW-Form-Urlencoded ; Charset=utf8'])(
    'takes %s',
    async (type) => {
      expect((await readForm(post('grant_type=refresh_token', type))).get('grant_type')).toBe('refresh_token')
    },
  )

  it.each([undefined, 'text/plain', 'application/json', 'multipart/form-data; boundary=x', `${FORM}, text/plain`, `${FORM}x`])(
    'refuses the content type %s, naming what it must be',
    async (type) => {
      expect(await refusalOf(readForm(post('a=1', type)))).toEqual({
        code: 'invalid_request',
        status: 400,
        description: `the content type must be ${FORM}`,
      })
    },
  )

  it('refuses another charset', async () => {
    expect((await refusalOf(readForm(post('a=1', `${FORM}; charset=iso-8859-1`)))).description).toBe('the charset must be utf-8')
  })

  it('refuses bytes that are not UTF-8', async () => {
    expect((await refusalOf(readForm(post(new Uint8Array([0x61, 0x3d, 0xff]), FORM)))).description).toBe('the body is not UTF-8')
  })

  it('reads no body as no parameters', async () => {
    expect((await readForm(post(null, FORM))).names()).toEqual([])
  })

  it('takes a body of exactly the limit', async () => {
    expect((await readForm(post('a=123456', FORM), { limit: 8 })).get('a')).toBe('123456')
  })

  it('refuses a body over the limit that states its length', async () => {
    expect(await refusalOf(readForm(post('a=1234567', FORM), { limit: 8 }))).toEqual({
      code: 'invalid_request',
      status: 413,
      description: 'the body is larger than 8 bytes',
    })
  })

  it('counts a body that does not state its length, and stops reading at the limit', async () => {
    const state: { cancelled?: boolean } = {}
    const refusal = await refusalOf(readForm(post(streamed(['a=12', '345', '67', '89'], state), FORM), { limit: 8 }))
    expect(refusal.status).toBe(413)
    expect(state.cancelled).toBe(true)
  })

  it('puts the pieces of a body together in order', async () => {
    expect((await readForm(post(streamed(['a=1', '2&', 'b=3']), FORM))).get('a')).toBe('12')
  })

  it('refuses a body that breaks off', async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('gone')) })
    expect((await refusalOf(readForm(post(broken, FORM)))).description).toBe('the body broke off')
  })

  it('passes its rules on', async () => {
    expect((await refusalOf(readForm(post('resource=a&resource=b', FORM), { repeatable: [] }))).code).toBe('invalid_request')
  })
})

describe('readJson', () => {
  it('parses JSON and says nothing of its shape', async () => {
    expect(await readJson(post('[1]', 'application/json; charset=utf-8'))).toEqual([1])
  })

  it('refuses what is not JSON, and JSON under another type: a form of another site can send that', async () => {
    expect((await refusalOf(readJson(post('{', 'application/json')))).description).toBe('the body is not JSON')
    expect((await refusalOf(readJson(post('{}', 'text/plain')))).description).toBe('the content type must be application/json')
  })

  it('refuses more than 64 KiB', async () => {
    expect((await refusalOf(readJson(post(`"${'a'.repeat(65_536)}"`, 'application/json')))).status).toBe(413)
  })
})

describe('readBytes', () => {
  it('gives the bytes as they came', async () => {
    expect(await readBytes(post(new Uint8Array([0, 255, 10]), 'application/json'), 16)).toEqual(new Uint8Array([0, 255, 10]))
  })
})

describe('isForm', () => {
  it('goes by the type, not by the charset', () => {
    expect(isForm(post('a=1', `${FORM}; charset=x`))).toBe(true)
    expect(isForm(post('a=1', 'text/plain'))).toBe(false)
    expect(isForm(post(null))).toBe(false)
  })
})
