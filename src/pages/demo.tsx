import type { Page } from './layout.tsx'

/** Where the demo client's redirect lands: its script (src/browser/demo.ts) fills in what came back. */
export function demoPage(): Page {
  return {
    title: 'Demo client',
    script: 'demo',
    connects: true,
    wide: true,
    body: (
      <>
        <h1>Demo client</h1>
        <p>
          A public client in this page: authorization code with PKCE, state and nonce. It checks everything it is given and keeps none of
          it.
        </p>
        <noscript>
          <p class="notice">This client is a script, and JavaScript is off. The issuer itself works without it.</p>
        </noscript>
        <p id="demo-status" role="status" />
        <p>
          <button type="button" id="demo-sign-in" class="primary" hidden>
            Sign in
          </button>
        </p>
        <div id="demo-result" />
        <p class="quiet small">
          <a href="/">Back to the start page</a>
        </p>
      </>
    ),
  }
}
