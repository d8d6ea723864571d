import { type Attempt, authorizationUrl, CLIENT_ID, codeOf, discover, exchangeCode, newAttempt } from './demo/authorization.ts'
import { claimsTable } from './demo/claims-table.ts'
import { readClaims, verifyIdToken } from './demo/id-token.ts'
import { fetchJson, objectOf, textOf } from './demo/json.ts'

const STORED = 'sluis-demo'
const redirectUri = `${location.origin}/demo`

const status = document.getElementById('demo-status')
const result = document.getElementById('demo-result')
const button = document.getElementById('demo-sign-in')

button?.addEventListener('click', () => run(signIn))

// the code leaves the address bar, and the history, before anything else happens
const answer = new URLSearchParams(location.search)
const asked = location.hash === '#start'
history.replaceState(null, '', '/demo')

if (answer.has('code') || answer.has('error')) run(finish)
else if (asked) run(signIn)
else offer('Sign in')

async function signIn(): Promise<void> {
  say('Going to the issuer…')
  const discovery = await discover(location.origin, fetch)
  const attempt = newAttempt()
  sessionStorage.setItem(STORED, JSON.stringify(attempt))
  location.assign(await authorizationUrl(discovery, attempt, redirectUri))
}

async function finish(): Promise<void> {
  say('Checking the answer…')
  const attempt = takeAttempt()
  const discovery = await discover(location.origin, fetch)
  const code = codeOf(answer, attempt, discovery.issuer)
  if (attempt === null) return
  const { accessToken, idToken } = await exchangeCode(discovery, code, attempt, redirectUri, fetch)

  const expected = { issuer: discovery.issuer, clientId: CLIENT_ID, nonce: attempt.nonce, now: Date.now() }
  const claims = await verifyIdToken(idToken, await fetchJson(fetch, discovery.keys), expected)
  const userinfo = await fetchJson(fetch, discovery.userinfo, { headers: { authorization: `Bearer ${accessToken}` } })
  // OpenID Connect Core section 5.3.2: else the answer is about someone else
  if (userinfo.sub !== claims.sub) throw new Error('Userinfo answered about another subject than the ID token.')

  say(`Signed in as ${textOf(claims, 'sub')}. State, issuer, nonce, audience, expiry and signature are as they should be.`, 'good')
  result?.replaceChildren(
    claimsTable('ID token', claims),
    claimsTable('Access token', readClaims(accessToken)),
    claimsTable('Userinfo', userinfo),
  )
  offer('Sign in again')
}

/** What this tab remembered, once: an answer that comes twice finds nothing. */
function takeAttempt(): Attempt | null {
  const stored = sessionStorage.getItem(STORED)
  sessionStorage.removeItem(STORED)
  const attempt = stored === null ? null : objectOf(JSON.parse(stored))
  return attempt === null
    ? null
    : { state: textOf(attempt, 'state'), nonce: textOf(attempt, 'nonce'), verifier: textOf(attempt, 'verifier') }
}

function run(step: () => Promise<void>): void {
  button?.setAttribute('hidden', '')
  result?.replaceChildren()
  step().catch((error: unknown) => {
    say(error instanceof Error ? error.message : 'Something went wrong.', 'bad')
    offer('Try again')
  })
}

function say(words: string, kind?: 'good' | 'bad'): void {
  if (status === null) return
  status.textContent = words
  status.className = kind === undefined ? '' : `notice ${kind}`
}

function offer(words: string): void {
  if (button === null) return
  button.textContent = words
  button.removeAttribute('hidden')
}
