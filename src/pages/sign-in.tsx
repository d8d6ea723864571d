import type { Page } from './layout.tsx'
import { PasswordForm } from './password-form.tsx'
import { returnText } from './return-text.ts'

export interface PickablePerson {
  readonly email: string
  readonly name: string
}

/** A company's own sign-in: what people call it, and where the way to it begins. */
export interface OfferedProvider {
  readonly name: string
  readonly start: string
}

export interface SignInProps {
  /** The pending request's id. */
  readonly auth: string
  readonly client: { readonly name: string; readonly description?: string | undefined }
  readonly redirectUri: string
  /** Whom the development picker offers; undefined where there is none. */
  readonly people: readonly PickablePerson[] | undefined
  /** The address the client expects (OpenID Connect Core section 3.1.2.1): offered first. */
  readonly loginHint?: string | undefined
  readonly providers: readonly OfferedProvider[]
  /** The accounts that have a password of their own. */
  readonly accounts: readonly string[]
}

/** Every way in, the company's own first; what is for emergencies is folded away behind them. */
export function signInPage({ auth, client, redirectUri, people, loginHint, providers, accounts }: SignInProps): Page {
  const hasOthers = people !== undefined || providers.length > 0
  return {
    title: 'Sign in',
    ...(accounts.length > 0 ? { script: 'password', connects: true } : {}),
    body: (
      <>
        <h1>Sign in</h1>
        <p class="lead">
          to continue to <strong>{client.name}</strong>
        </p>
        {client.description === undefined ? null : <p class="quiet">{client.description}</p>}
        {providers.length === 0 ? null : <Providers providers={providers} />}
        {people === undefined ? null : <Picker auth={auth} people={people} loginHint={loginHint} />}
        {accounts.length === 0 ? null : <PasswordForm auth={auth} accounts={accounts} folded={hasOthers} />}
        {hasOthers || accounts.length > 0 ? null : <p class="notice">Nobody can sign in here yet: there is no way to.</p>}
        <p class="quiet small">
          You will go back to <span class="where">{returnText(redirectUri)}</span>.
          {people === undefined ? null : ' This installation is for development: who is in the directory is asked for no password.'}
        </p>
      </>
    ),
  }
}

function Providers({ providers }: Pick<SignInProps, 'providers'>) {
  return (
    <ul class="providers" aria-label="Sign in with">
      {providers.map(({ name, start }) => (
        <li key={start}>
          <a class="primary" href={start}>
            {`Sign in with ${name}`}
          </a>
        </li>
      ))}
    </ul>
  )
}

interface PickerProps {
  readonly auth: string
  readonly people: readonly PickablePerson[]
  readonly loginHint: string | undefined
}

/** For development: whoever it names, one press away. */
function Picker({ auth, people, loginHint }: PickerProps) {
  if (people.length === 0) return <p class="notice">Nobody can sign in here yet: the directory has no people.</p>
  const hinted = people.find((person) => person.email.toLowerCase() === loginHint?.trim().toLowerCase())
  const inOrder = hinted === undefined ? people : [hinted, ...people.filter((person) => person !== hinted)]
  return (
    <form method="post" action="/login/picker">
      <input type="hidden" name="auth" value={auth} />
      <ul class="people" aria-label="Who are you?">
        {inOrder.map((person) => (
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
