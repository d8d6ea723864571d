import type { Page } from './layout.tsx'

/** For the second tab, or the second press, of one sign-in. */
export function alreadyCompletedPage({ client }: { readonly client: string }): Page {
  return {
    title: 'Already completed',
    body: (
      <>
        <h1>This sign-in is done already</h1>
        <p>
          It was completed a moment ago, perhaps in another tab. You can close this one, or go back to <strong>{client}</strong>.
        </p>
      </>
    ),
  }
}
