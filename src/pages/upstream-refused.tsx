import type { Page } from './layout.tsx'

export interface UpstreamRefusedProps {
  readonly title: string
  /** What happened. */
  readonly description: string
  /** What the reader can do. */
  readonly advice: string
  /** For whoever is asked for help: log and audit say the same. */
  readonly code: string
  /** Where to try again, when that may help. */
  readonly again?: { readonly href: string; readonly label: string } | undefined
}

/** A sign-in at a company's provider that came to nothing. */
export function upstreamRefusedPage({ title, description, advice, code, again }: UpstreamRefusedProps): Page {
  return {
    title,
    body: (
      <>
        <h1>{title}</h1>
        <p class="notice" role="alert">
          {description}
        </p>
        <p>{advice}</p>
        {again === undefined ? null : (
          <p>
            <a class="button primary" href={again.href}>
              {again.label}
            </a>
          </p>
        )}
        <p class="quiet small">
          Code <code>{code}</code>
        </p>
      </>
    ),
  }
}
