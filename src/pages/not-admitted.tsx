import type { Page } from './layout.tsx'

export interface NotAdmittedProps {
  /** The identity that is signed in. */
  readonly person: string
  readonly client: string
  /** Where one signs out, when that is offered. */
  readonly signOutUrl?: string | undefined
}

/** A signed-in person whom the client's policy does not admit. Group names are not shown: they map what there is to get into. */
export function notAdmittedPage({ person, client, signOutUrl }: NotAdmittedProps): Page {
  return {
    title: 'Not admitted',
    body: (
      <>
        <h1>You are signed in, but not for this</h1>
        <p class="notice">
          <strong>{person}</strong> is not admitted to <strong>{client}</strong>.
        </p>
        <p>
          If you should be, ask whoever looks after {client} for access, then start again from there. You stay signed in for everything
          else.
        </p>
        {signOutUrl === undefined ? null : (
          <p>
            Not you? <a href={signOutUrl}>Sign out</a> and come back as someone else.
          </p>
        )}
      </>
    ),
  }
}
