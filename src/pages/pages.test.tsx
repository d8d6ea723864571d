import { describe, expect, it } from 'vitest'
import { accountPage } from './account.tsx'
import { alreadyCompletedPage } from './already-completed.tsx'
import { demoPage } from './demo.tsx'
import { deviceCodePage, deviceConsentPage, deviceDonePage } from './device.tsx'
import { errorPage } from './error.tsx'
import { expiredPage } from './expired.tsx'
import { formPostPage } from './form-post.tsx'
import { Document, type Page } from './layout.tsx'
import { notAdmittedPage } from './not-admitted.tsx'
import { signInPage } from './sign-in.tsx'
import { signOutPage } from './sign-out.tsx'
import { signedOutPage } from './signed-out.tsx'
import { startPage } from './start.tsx'
import { upstreamRefusedPage } from './upstream-refused.tsx'

const HOSTILE = `"><script>alert(1)</script>' onclick=x`
const ADA = { email: 'ada@acme.example', name: 'Ada Lovelace' }
const GRACE = { email: 'grace@acme.example', name: 'Grace Hopper' }

async function rendered(page: Page, requestId?: string): Promise<string> {
  return String(await (<Document site={{ name: HOSTILE, issuer: 'https://id.acme.example' }} page={page} requestId={requestId} />))
}

const signIn = {
  ...{ auth: 'r1', client: { name: 'Payroll' }, redirectUri: 'https://payroll.acme.example/cb', people: [ADA, GRACE] },
  ...{ providers: [], accounts: [] },
}
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
  [
    'upstream-refused',
    upstreamRefusedPage({ title: HOSTILE, description: HOSTILE, advice: HOSTILE, code: HOSTILE, again: { href: HOSTILE, label: HOSTILE } }),
  ],
  ['demo', demoPage()],
  ['account', accountPage({ person: HOSTILE, signIns: [browserSignIn], devices: [session], left: [session] })],
  ['signed-out-everywhere', signedOutPage({ frames: [], everywhere: true })],
  ['device-code', deviceCodePage({ typed: HOSTILE, problem: HOSTILE })],
  ['device-consent', deviceConsentPage(consent)],
  ['device-done', deviceDonePage({ allowed: true, client: HOSTILE })],
  ['sign-out', signOutPage({ person: HOSTILE, client: HOSTILE, action: HOSTILE, fields: { [HOSTILE]: HOSTILE } })],
  ['signed-out', signedOutPage({ frames: [HOSTILE], returnTo: { url: HOSTILE, client: HOSTILE } })],
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

describe('the confirmation of a sign-out', () => {
  const props = { person: 'ada@acme.example', action: '/end_session', fields: { client_id: 'payroll', state: 'x' } }

  it('says who is signed in, who asks, and what ends', async () => {
    const html = await rendered(signOutPage({ ...props, client: 'Payroll' }))
    expect(html).toContain('<strong>ada@acme.example</strong>')
    expect(html).toContain('<strong>Payroll</strong> asks')
    expect(html).toContain('every application you opened with it')
    expect(await rendered(signOutPage(props))).not.toContain('asks to sign you out')
  })

  it('signs out by one form, which sends the request along, and by nothing else', async () => {
    const html = await rendered(signOutPage(props))
    expect(html.match(/<form[^>]*>/g)).toEqual(['<form method="post" action="/end_session">'])
    expect(html.match(/<input[^>]*>/g)).toEqual([
      '<input type="hidden" name="client_id" value="payroll"/>',
      '<input type="hidden" name="state" value="x"/>',
    ])
    expect(html.match(/<button[^>]*>/g)).toEqual(['<button type="submit" class="primary">'])
    expect(html).not.toMatch(/<script|http-equiv/)
  })
})

describe('the signed-out page', () => {
  const frames = ['https://a.example/out?iss=i&sid=s', 'https://b.example/out?iss=i&sid=t']
  const returnTo = { url: 'https://a.example/after?state=x&y=z', client: 'Payroll' }

  it('loads each client in a hidden frame, which may take nobody elsewhere', async () => {
    const html = await rendered(signedOutPage({ frames, returnTo }))
    expect(html.match(/<iframe[^>]*>/g)).toEqual(
      frames.map(
        (frame) =>
          `<iframe src="${frame.replaceAll('&', '&amp;')}" title="Signing out of an application" sandbox="allow-forms allow-same-origin allow-scripts" referrerpolicy="no-referrer" hidden="">`,
      ),
    )
  })

  it('goes back to the client by script, by itself without JavaScript, and by a link', async () => {
    const html = await rendered(signedOutPage({ frames, returnTo }))
    const url = 'https://a.example/after?state=x&amp;y=z'
    expect(html).toContain('<script type="module" src="/assets/signed-out.js">')
    expect(html).toContain(`<noscript><meta http-equiv="refresh" content="3; url=${url}"/></noscript>`)
    expect(html).toContain(`<a id="return" href="${url}">`)
  })

  it('goes nowhere, and needs no script, when nobody is to be gone back to', async () => {
    const html = await rendered(signedOutPage({ frames }))
    expect(html.match(/<iframe/g)).toHaveLength(2)
    expect(html).not.toMatch(/<script|http-equiv|id="return"/)
    expect(html).toContain('You are signed out')
  })
})

describe('the start page', () => {
  it('shows no list of people where there is none to show', async () => {
    expect(await rendered(startPage(start))).not.toContain('People who can sign in')
  })
})
