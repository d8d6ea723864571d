import type { Page } from './layout.tsx'

export interface SignedOutProps {
  /** Addresses of clients that are told by being loaded here (front-channel logout). */
  readonly frames: readonly string[]
  /** Where a client has the person sent back to: one of its registered addresses, with its `state`. */
  readonly returnTo?: { readonly url: string; readonly client: string } | undefined
  /** Other browsers, devices and programs have ended with it. */
  readonly everywhere?: boolean
}

/** s: as long as the script waits for the frames; a client that loads slower is not worth a person's time */
const WAIT = 3

/**
 * What may run in a frame. A client clears cookies and storage of its own origin, by script or by a form it sends; it opens nothing, asks
 * nothing, and takes nobody elsewhere. Without allow-same-origin its storage would be another's than its pages see.
 */
const SANDBOX = 'allow-forms allow-same-origin allow-scripts'

/**
 * Nothing of this browser is left. Its frames tell clients so, and then the person goes back to the one they came from: by the page's script
 * as soon as the frames are loaded and after 3 s at the latest, without JavaScript after 3 s, by the link at once.
 */
export function signedOutPage({ frames, returnTo, everywhere = false }: SignedOutProps): Page {
  return {
    title: 'Signed out',
    ...(frames.length === 0 ? {} : { frames }),
    ...(returnTo === undefined ? {} : { script: 'signed-out', goesOn: { to: returnTo.url, seconds: WAIT } }),
    body: (
      <>
        <h1>You are signed out</h1>
        {everywhere ? (
          <p>Everything you were signed in to is over: in this browser, in others, and on devices.</p>
        ) : (
          <p>Your sign-in in this browser is over, and so are the applications you opened with it.</p>
        )}
        <p class="quiet">
          An application you still have open notices at its next request.{everywhere ? null : ' Devices and programs stay signed in.'}
        </p>
        {returnTo === undefined ? (
          <p>
            <a href="/account">Sign in again</a>
          </p>
        ) : (
          <p>
            Taking you back to <strong>{returnTo.client}</strong>.{' '}
            <a id="return" href={returnTo.url}>
              Go there now
            </a>
          </p>
        )}
        {frames.map((frame) => (
          <iframe key={frame} src={frame} title="Signing out of an application" sandbox={SANDBOX} referrerpolicy="no-referrer" hidden />
        ))}
      </>
    ),
  }
}
