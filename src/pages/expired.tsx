import type { Page } from './layout.tsx'

/** For a request that is gone, or that began in another browser: the two are not told apart, so that a guessed id says nothing. */
export function expiredPage(): Page {
  return {
    title: 'Not valid any more',
    body: (
      <>
        <h1>This sign-in is not valid any more</h1>
        <p>
          It was finished already, perhaps in another tab; or it waited too long, or began in another browser. This page signed nobody in.
        </p>
        <p>Go back to the application you came from and start again.</p>
      </>
    ),
  }
}
