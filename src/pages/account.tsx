import type { Page } from './layout.tsx'

export interface AccountSession {
  readonly sid: string
  readonly client: string
  /** `a browser` or `a device`. */
  readonly on: string
  readonly since: string
  readonly until: string
}

export interface AccountSignIn {
  readonly id: string
  readonly how: string
  readonly since: string
  /** It is the one of the browser that asks. */
  readonly here: boolean
  readonly sessions: readonly AccountSession[]
}

export interface AccountProps {
  readonly person: string
  readonly signIns: readonly AccountSignIn[]
  /** Sessions that rest on no sign-in: devices. */
  readonly devices: readonly AccountSession[]
  /** Sessions whose browser's sign-in is over. */
  readonly left: readonly AccountSession[]
}

/** What a person is signed in to, and where; each can be ended, and all of it. */
export function accountPage({ person, signIns, devices, left }: AccountProps): Page {
  return {
    title: 'Your account',
    wide: true,
    body: (
      <>
        <h1>Your account</h1>
        <p class="lead">
          You are signed in as <strong>{person}</strong>.
        </p>
        <h2>Browsers</h2>
        <p class="quiet">Ending a browser’s sign-in signs you out of every application you opened with it.</p>
        {signIns.map((signIn) => (
          <section key={signIn.id}>
            <h3>{signIn.here ? 'This browser' : 'Another browser'}</h3>
            <p>
              Signed in {signIn.since}, by {signIn.how}.
            </p>
            <Sessions sessions={signIn.sessions} empty="No application is open." />
            <End name="sign_in" value={signIn.id} label={signIn.here ? 'Sign out of this browser' : 'End this sign-in'} />
          </section>
        ))}
        <h2>Devices and programs</h2>
        <p class="quiet">These stay signed in when you sign out of a browser.</p>
        <Sessions sessions={devices} empty="None." />
        {left.length === 0 ? null : (
          <>
            <h2>Left open</h2>
            <p class="quiet">The sign-in these were opened with is over; they end by themselves.</p>
            <Sessions sessions={left} empty="None." />
          </>
        )}
        <h2>Everywhere</h2>
        <End name="everything" value="yes" label="End everything, here and everywhere" />
      </>
    ),
  }
}

function Sessions({ sessions, empty }: { readonly sessions: readonly AccountSession[]; readonly empty: string }) {
  if (sessions.length === 0) return <p class="quiet">{empty}</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Application</th>
          <th scope="col">On</th>
          <th scope="col">Since</th>
          <th scope="col">At the latest until</th>
          <th scope="col">
            <span class="hidden">End</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <tr key={session.sid}>
            <th scope="row">{session.client}</th>
            <td data-label="On">{session.on}</td>
            <td data-label="Since">{session.since}</td>
            <td data-label="At the latest until">{session.until}</td>
            <td>
              <End name="session" value={session.sid} label="End" of={session.client} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function End({ name, value, label, of }: { readonly name: string; readonly value: string; readonly label: string; readonly of?: string }) {
  return (
    <form method="post" action="/account">
      <button type="submit" name={name} value={value} aria-label={of === undefined ? undefined : `${label} ${of}`}>
        {label}
      </button>
    </form>
  )
}
