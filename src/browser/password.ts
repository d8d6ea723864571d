import { PasswordError, prove } from './password/prove.ts'

/** Signs in by a password that stays on this page: what is sent is a proof of it (SRP-6a), and no field of the form. */
const form = document.querySelector('form[data-srp]')
const account = document.getElementById('account')
const password = document.getElementById('password')
const button = form?.querySelector('button')
const problem = document.getElementById('password-problem')
const status = document.getElementById('password-status')

if (form instanceof HTMLFormElement) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void signIn(form)
  })
  // also when the browser brings the page back as it was left, in the middle of a sign-in
  window.addEventListener('pageshow', () => waiting(false))
  waiting(false)
}

async function signIn({ dataset }: HTMLFormElement): Promise<void> {
  if (!(password instanceof HTMLInputElement) || !(account instanceof HTMLInputElement || account instanceof HTMLSelectElement)) return
  const auth = dataset.srp ?? ''
  say('')
  waiting(true)
  try {
    const proof = await prove({ auth, account: account.value, password: password.value }, fetch)
    go({ auth, proof })
  } catch (error) {
    waiting(false)
    say(error instanceof PasswordError ? error.message : 'Something went wrong in this page. Reload it and try again.')
    password.focus()
    password.select()
  }
}

/** As a navigation, so that the browser follows what a sign-in is answered, whatever that is. */
function go(fields: Record<string, string>): void {
  const leaving = document.createElement('form')
  leaving.method = 'post'
  leaving.action = '/login/recovery/complete'
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    Object.assign(input, { type: 'hidden', name, value })
    leaving.append(input)
  }
  document.body.append(leaving)
  leaving.submit()
}

function waiting(yes: boolean): void {
  const words = yes ? 'Signing in…' : 'Sign in'
  if (button instanceof HTMLButtonElement) Object.assign(button, { disabled: yes, textContent: words })
  if (status !== null) status.textContent = yes ? words : ''
}

function say(words: string): void {
  if (problem === null) return
  problem.textContent = words
  problem.hidden = words === ''
}
