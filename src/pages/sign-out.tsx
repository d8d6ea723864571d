import type { Page } from './layout.tsx'

export interface SignOutProps {
  /** The identity that is signed in. */
  readonly person: string
  /** Who asks for the sign-out, when it is known. */
  readonly client?: string | undefined
  /** Where the form is sent: `/logout` or `/end_session`. */
  readonly action: string
  /** The request's own parameters, sent along with the form. */
  readonly fields: Readonly<Record<string, string>>
}

/**
 * Asks before it signs out: for a request that proves nothing, so that no link or page of somebody else's ends a sign-in. What proves it is
 * that the form comes from a page of ours (the same-origin check of whoever takes it).
 */
export function signOutPage({ person, client, action, fields }: SignOutProps): Page {
  return {
    title: 'Sign out?',
    body: (
      <>
        <h1>Sign out?</h1>
        <p class="lead">
          You are signed in as <strong>{person}</strong>.
        </p>
        {client === undefined ? null : (
          <p>
            <strong>{client}</strong> asks to sign you out.
          </p>
        )}
        <p>This ends your sign-in in this browser, and every application you opened with it. They are told at once where they can be.</p>
        <p class="quiet">
          Other browsers, devices and programs stay signed in; end those on <a href="/account">your account page</a>.
        </p>
        <form method="post" action={action}>
          {Object.entries(fields).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <button type="submit" class="primary">
            Sign out
          </button>
        </form>
        <p>
          <a href="/account">Stay signed in</a>
        </p>
      </>
    ),
  }
}
