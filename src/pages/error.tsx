import type { Page } from './layout.tsx'

export interface ErrorProps {
  readonly title: string
  /** What happened. */
  readonly description: string
  /** What the reader can do. */
  readonly advice: string
  /** For whoever is asked for help. */
  readonly code: string
  /** The issuer's address, for who came to it by another name. */
  readonly issuerIsAt?: string | undefined
}

/** What went wrong, for a person: in words first, the code last. The request id is the document's footer. */
export function errorPage({ title, description, advice, code, issuerIsAt }: ErrorProps): Page {
  return {
    title,
    elsewhere: issuerIsAt !== undefined,
    body: (
      <>
        <h1>{title}</h1>
        <p class="notice" role="alert">
          {sentence(description)}
        </p>
        {issuerIsAt === undefined ? null : (
          <p>
            <a class="button primary" href={issuerIsAt}>
              Open {issuerIsAt}
            </a>
          </p>
        )}
        <p>{advice}</p>
        <p class="quiet small">
          Code <code>{code}</code>
        </p>
      </>
    ),
  }
}

/** Descriptions are written for JSON: no capital, no full stop. A name in snake_case stays as it is. */
function sentence(description: string): string {
  const opened = /^[a-z]+[ ,']/.test(description) ? description.charAt(0).toUpperCase() + description.slice(1) : description
  return /[.!?]$/.test(opened) ? opened : `${opened}.`
}
