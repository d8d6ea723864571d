import { describe, expect, it } from 'vitest'
import { signOutPage } from '../pages/sign-out.tsx'
import { signedOutPage } from '../pages/signed-out.tsx'
import { pageResponse } from './page.tsx'

const site = { name: 'Acme', issuer: 'https://id.acme.example' }

function policyOf(answer: Response): string[] {
  return (answer.headers.get('content-security-policy') ?? '').split('; ')
}

describe('the answer with a signed-out page', () => {
  const returnTo = { url: 'https://a.example/after', client: 'Payroll' }

  it('lets the page load its frames, its own script and nothing else', async () => {
    const page = signedOutPage({ frames: ['https://a.example/out?sid=1', 'https://b.example:8443/out'], returnTo })
    expect(policyOf(await pageResponse(page, { site }))).toEqual([
      "default-src 'none'",
      "style-src 'self'",
      "img-src 'self'",
      "script-src 'self'",
      'frame-src https://a.example https://b.example:8443',
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'self'",
    ])
  })

  it('names no frame and no script where the page has none', async () => {
    expect(policyOf(await pageResponse(signedOutPage({ frames: [] }), { site })).join()).not.toMatch(/frame-src|script-src/)
  })

  it('is kept nowhere, and its address is told to no client', async () => {
    const { headers } = await pageResponse(signedOutPage({ frames: ['https://a.example/out'], returnTo }), { site })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
  })
})

it('the answer with a confirmation lets its form end where the sign-out leads, and holds no script', async () => {
  const page = signOutPage({ person: 'ada@acme.example', action: '/end_session', fields: {} })
  const policy = policyOf(await pageResponse(page, { site, formActionTo: 'https://a.example/after' }))
  expect(policy).toContain("form-action 'self' https://a.example")
  expect(policy.join()).not.toContain('script-src')
})
