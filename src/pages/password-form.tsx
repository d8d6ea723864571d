interface PasswordFormProps {
  /** The pending request's id. */
  readonly auth: string
  /** One at least. */
  readonly accounts: readonly string[]
  /** Behind a line to press, where there are other ways in. */
  readonly folded: boolean
}

/**
 * Sign-in by a password that never leaves the page: its script (src/browser/password.ts) proves it instead. So nothing here could send it: the
 * form goes nowhere, its fields have no names, and the button waits for the script.
 */
export function PasswordForm({ folded, ...form }: PasswordFormProps) {
  if (!folded) return <Form {...form} />
  return (
    <details>
      <summary>{`Sign in with ${passwordOf(form.accounts)}`}</summary>
      <Form {...form} />
    </details>
  )
}

function Form({ auth, accounts }: Omit<PasswordFormProps, 'folded'>) {
  const [first = '', ...others] = accounts
  return (
    <form data-srp={auth}>
      {others.length === 0 ? (
        // For password managers, which file a password by the name beside it.
        <input type="text" id="account" value={first} autocomplete="username" readonly hidden />
      ) : (
        <p>
          <label for="account">Account</label>
          <select id="account" autocomplete="username">
            {accounts.map((account) => (
              <option key={account} value={account}>
                {account}
              </option>
            ))}
          </select>
        </p>
      )}
      <p>
        <label for="password">{others.length === 0 ? nameOf(first) : 'Password'}</label>
        <input
          id="password"
          type="password"
          autocomplete="current-password"
          aria-describedby="password-problem"
          required
          spellcheck={false}
          autocapitalize="none"
        />
      </p>
      <p class="notice bad" role="alert" id="password-problem" hidden />
      <noscript>
        <p class="notice">This needs JavaScript: the password stays in your browser, and only a proof of it is sent.</p>
      </noscript>
      <button type="submit" class="primary" disabled>
        Sign in
      </button>
      <p class="hidden" role="status" id="password-status" />
    </form>
  )
}

function passwordOf(accounts: readonly string[]): string {
  return accounts.length === 1 ? `the ${accounts[0]} password` : 'a password'
}

function nameOf(account: string): string {
  return `${account.slice(0, 1).toUpperCase()}${account.slice(1)} password`
}
