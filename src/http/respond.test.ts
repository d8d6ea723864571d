import { describe, expect, it } from 'vitest'
import { json, tokenJson } from './respond.ts'

describe('json', () => {
  it('is not kept unless it says so itself', async () => {
    const answer = json({ a: 1 })
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.json()).toEqual({ a: 1 })
    expect(json({}, { headers: { 'cache-control': 'public, max-age=300' } }).headers.get('cache-control')).toBe('public, max-age=300')
  })
})

describe('tokenJson', () => {
  it('is never kept, by HTTP/1.0 caches neither, whatever headers it is given', () => {
    const answer = tokenJson({}, { status: 400, headers: { 'cache-control': 'public', 'www-authenticate': 'Basic' } })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('pragma')).toBe('no-cache')
    expect(answer.headers.get('www-authenticate')).toBe('Basic')
  })
})
