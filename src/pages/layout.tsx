import type { Child } from 'hono/jsx'
import type { Site } from './site.ts'

/** A page: what it says, and what it has that its Content-Security-Policy must allow. */
export interface Page {
  readonly title: string
  readonly body: Child
  /** The script it loads: `<name>` of `/assets/<name>.js`. */
  readonly script?: 'demo' | 'form-post' | 'password' | 'signed-out'
  /** Its script calls the issuer. */
  readonly connects?: boolean
  /** The addresses of its frames. */
  readonly frames?: readonly string[]
  /** Where a browser without JavaScript goes on to by itself, after this many seconds. */
  readonly goesOn?: { readonly to: string; readonly seconds: number }
  /** For what is a table more than a sentence. */
  readonly wide?: boolean
  /** It is shown at another address than the issuer's, where its style and icon are not. */
  readonly elsewhere?: boolean
}

interface DocumentProps {
  readonly site: Site
  readonly page: Page
  readonly requestId: string | undefined
}

/** The whole document but its doctype. Works without JavaScript; styles and scripts are files of ours, never inline. */
export function Document({ site, page, requestId }: DocumentProps) {
  const assets = page.elsewhere === true ? `${site.issuer}/assets` : '/assets'
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${page.title} · ${site.name}`}</title>
        <link rel="icon" type="image/svg+xml" href={`${assets}/icon.svg`} />
        <link rel="stylesheet" href={`${assets}/style.css`} />
        {page.goesOn === undefined ? null : (
          <noscript>
            <meta http-equiv="refresh" content={`${page.goesOn.seconds}; url=${page.goesOn.to}`} />
          </noscript>
        )}
        {page.script === undefined ? null : <script type="module" src={`${assets}/${page.script}.js`} />}
      </head>
      <body class={page.wide === true ? 'wide' : undefined}>
        <header class="masthead">
          <img src={`${assets}/icon.svg`} alt="" width="28" height="28" />
          <span>{site.name}</span>
        </header>
        <main>{page.body}</main>
        {requestId === undefined ? null : (
          <footer>
            Request <code>{requestId}</code>
          </footer>
        )}
      </body>
    </html>
  )
}
