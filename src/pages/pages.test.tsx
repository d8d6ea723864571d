import { describe, expect, it } from 'vitest'
import { accountEndedPage, accountPage } from './account.tsx'
import { alreadyCompletedPage } from './already-completed.tsx'
import { demoPage } from './demo.tsx'
import { deviceCodePage, deviceConsentPage, deviceDonePage } from './device.tsx'
import { errorPage } from './error.tsx'
import { expiredPage } from './expired.tsx'
import { formPostPage } from './form-post.tsx'
import { Document, type Page } from './layout.tsx'
import { notAdmittedPage } from './not-admitted.tsx'
import { signInPage } from './sign-in.tsx'
import { startPage } from './start.tsx'

const HOSTILE = `"><script>alert(1)</script>' onclick=x`
const ADA = { email: 'ada@acme.example', name: 'Ada Lovelace' }
const GRACE = { email: 'grace@acme.example', name: 'Grace Hopper' }

async function rendered(page: Page, requestId?: string): Promise<string> {
  return String(await (<Document site={{ name: HOSTILE, issuer: 'https://id.acme.example' }} page={page} requestId={requestId} />))
}

const signIn = { auth: 'r1', client: { name: 'Payroll' }, redirectUri: 'https://payroll.acme.example/cb', people: [ADA, GRACE] }
const start = { version: '1', instance: 'dev', issuer: 'http://localhost:8787', people: [], clients: [], documents: ['config/policy.yaml'] }

const session = { sid: HOSTILE, client: HOSTILE, on: HOSTILE, since: HOSTILE, until: HOSTILE }
const browserSignIn = { id: HOSTILE, how: HOSTILE, since: HOSTILE, here: true, sessions: [session] }
const consent = { person: HOSTILE, client: HOSTILE, description: HOSTILE, request: HOSTILE, userCode: HOSTILE, gets: [HOSTILE] }

const EVERY: [string, Page][] = [
  [
    'sign-in',
    signInPage({ ...signIn, auth: HOSTILE, client: { name: HOSTILE, description: HOSTILE }, people: [{ email: HOSTILE, name: HOSTILE }] }),
  ],
  ['error', errorPage({ title: HOSTILE, description: HOSTILE, advice: HOSTILE, code: HOSTILE })],
  ['not-admitted', notAdmittedPage({ person: HOSTILE, client: HOSTILE, signOutUrl: '/logout' })],
  ['already-completed', alreadyCompletedPage({ client: HOSTILE })],
  ['expired', expiredPage()],
  ['form-post', formPostPage({ action: `https://a.example/${HOSTILE}`, fields: { [HOSTILE]: HOSTILE }, client: HOSTILE })],
  [
    'start',
    startPage({
      ...start,
      people: [{ ...ADA, name: HOSTILE, groups: [HOSTILE] }],
      clients: [{ id: HOSTILE, name: HOSTILE, kind: HOSTILE }],
    }),
  ],
  ['demo', demoPage()],
  ['account', accountPage({ person: HOSTILE, signIns: [browserSignIn], devices: [session], left: [session] })],
  ['account-ended', accountEndedPage()],
  ['device-code', deviceCodePage({ typed: HOSTILE, problem: HOSTILE })],
  ['device-consent', deviceConsentPage(consent)],
  ['device-done', deviceDonePage({ allowed: true, client: HOSTILE })],
]

describe.each(EVERY)('the %s page', (_name, page) => {
  it('escapes whatever it is given', async () => {
    const html = await rendered(page, HOSTILE)
    expect(html).not.toContain('<script>')
    expect(html).not.toContain(HOSTILE)
    expect(html).toContain('&quot;&gt;&lt;script&gt;')
  })

  it('has no inline style, script or handler: its policy would refuse them', async () => {
    const html = await rendered(page)
    expect(html).not.toMatch(/<style|\sstyle=|<script(?![^>]* src="\/assets\/)/)
    expect(html.replace(/&[a-z0-9#]+;[^<]*/g, '')).not.toMatch(/\son[a-z]+=/)
  })

  it('says its language, fits a phone, and has one heading of the first level', async () => {
    const html = await rendered(page)
    expect(html).toMatch(/^<html lang="en">/)
    expect(html).toContain('name="viewport"')
    expect(html.match(/<h1>/g)).toHaveLength(1)
  })
})

describe('the document', () => {
  it('shows the request id only where it was given one', async () => {
    expect(await rendered(expiredPage(), 'r-1')).toContain('<code>r-1</code>')
    expect(await rendered(expiredPage())).not.toContain('<footer>')
  })
})

describe('the sign-in page', () => {
  it('has one form, with the request hidden and a button a person', async () => {
    const html = await rendered(signInPage(signIn))
    expect(html).toContain('<form method="post" action="/login/picker">')
    expect(html).toContain('<input type="hidden" name="auth" value="r1"/>')
    expect(html.match(/<button type="submit" name="person" value="[^"]+"/g)).toEqual([
      '<button type="submit" name="person" value="ada@acme.example"',
      '<button type="submit" name="person" value="grace@acme.example"',
    ])
    expect(html).not.toContain('autofocus')
  })

  it('offers the hinted person first, under the cursor, in whatever case the hint was', async () => {
    const html = await rendered(signInPage({ ...signIn, loginHint: ' Grace@ACME.example' }))
    expect(html.indexOf('Grace Hopper')).toBeLessThan(html.indexOf('Ada Lovelace'))
    expect(html).toMatch(/value="grace@acme\.example" autofocus/)
    expect(html.match(/autofocus/g)).toHaveLength(1)
  })

  it('repeats no hint that is nobody', async () => {
    const html = await rendered(signInPage({ ...signIn, loginHint: 'mallory@evil.example' }))
    expect(html).not.toMatch(/mallory|autofocus/)
  })

  it('says where it goes back to', async () => {
    expect(await rendered(signInPage(signIn))).toContain('payroll.acme.example')
    expect(await rendered(signInPage({ ...signIn, redirectUri: 'com.acme.demo:/cb' }))).toContain('a program on this computer')
  })

  it('says so when there is nobody', async () => {
    const html = await rendered(signInPage({ ...signIn, people: [] }))
    expect(html).not.toContain('<form')
    expect(html).toContain('Nobody can sign in')
  })
})

describe('the error page', () => {
  it.each([
    ['the body is not JSON', 'The body is not JSON.'],
    ['redirect_uri is not registered', 'redirect_uri is not registered.'],
    ['This form was sent from another site.', 'This form was sent from another site.'],
  ])('reads %j as a sentence', async (description, expected) => {
    expect(await rendered(errorPage({ title: 'x', description, advice: 'y', code: 'z' }))).toContain(`>${expected}<`)
  })

  it('leads to the issuer who came to it by another name, and takes style and icon from there', async () => {
    const words = { title: 'x', description: 'x', advice: 'y', code: 'z' }
    const html = await rendered(errorPage({ ...words, issuerIsAt: 'https://id.acme.example' }))
    expect(html).toContain('<a class="button primary" href="https://id.acme.example">')
    expect(html).toContain('<link rel="stylesheet" href="https://id.acme.example/assets/style.css"/>')
    expect(html).not.toContain('"/assets/')
    expect(await rendered(errorPage(words))).not.toContain('<a ')
  })
})

describe('the form_post page', () => {
  it('holds every parameter hidden, and a button for where scripts are off', async () => {
    const html = await rendered(
      formPostPage({ action: 'https://app.example/cb', fields: { code: 'c', state: 's', iss: 'i' }, client: 'App' }),
    )
    expect(html).toContain('action="https://app.example/cb"')
    expect(html.match(/<input type="hidden"/g)).toHaveLength(3)
    expect(html).toContain('<button type="submit"')
    expect(html).toContain('<script type="module" src="/assets/form-post.js">')
  })
})

describe('the start page', () => {
  it('shows no list of people where there is none to show', async () => {
    expect(await rendered(startPage(start))).not.toContain('People who can sign in')
  })
})
