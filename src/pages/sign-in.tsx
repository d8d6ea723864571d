import type { Page } from './layout.tsx'
import { returnText } from './return-text.ts'

export interface PickablePerson {
  readonly email: string
  readonly name: string
}

export interface SignInProps {
  /** The pending request's id. */
  readonly auth: string
  readonly client: { readonly name: string; readonly description?: string | undefined }
  readonly redirectUri: string
  readonly people: readonly PickablePerson[]
  /** The address the client expects (OpenID Connect Core section 3.1.2.1): offered first. */
  readonly loginHint?: string | undefined
}

/** The development picker: whoever it names, one press away. */
export function signInPage({ auth, client, redirectUri, people, loginHint }: SignInProps): Page {
  const hinted = people.find((person) => person.email.toLowerCase() === loginHint?.trim().toLowerCase())
  const inOrder = hinted === undefined ? people : [hinted, ...people.filter((person) => person !== hinted)]
  return {
    title: 'Sign in',
    body: (
      <>
        <h1>Sign in</h1>
        <p class="lead">
          to continue to <strong>{client.name}</strong>
        </p>
        {client.description === undefined ? null : <p class="quiet">{client.description}</p>}
        {inOrder.length === 0 ? <Nobody /> : <Picker auth={auth} people={inOrder} hinted={hinted} />}
        <p class="quiet small">
          You will go back to <span class="where">{returnText(redirectUri)}</span>. This installation is for development: it asks for no
          password.
        </p>
      </>
    ),
  }
}

interface PickerProps {
  readonly auth: string
  readonly people: readonly PickablePerson[]
  readonly hinted: PickablePerson | undefined
}

function Picker({ auth, people, hinted }: PickerProps) {
  return (
    <form method="post" action="/login/picker">
      <input type="hidden" name="auth" value={auth} />
      <ul class="people" aria-label="Who are you?">
        {people.map((person) => (
          <li key={person.email}>
            <button type="submit" name="person" value={person.email} autofocus={person === hinted}>
              <span class="initial" aria-hidden="true">
                {[...person.name][0]?.toUpperCase()}
              </span>
              <span class="who">
                <span class="name">{person.name}</span>
                <span class="email">{person.email}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </form>
  )
}

function Nobody() {
  return <p class="notice">Nobody can sign in here yet: the directory has no people.</p>
}
