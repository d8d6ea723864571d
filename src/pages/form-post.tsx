import type { Page } from './layout.tsx'

export interface FormPostProps {
  /** The client's redirect URI. */
  readonly action: string
  /** The authorization response's parameters. */
  readonly fields: Readonly<Record<string, string>>
  readonly client: string
}

/** An authorization response by form_post (OAuth 2.0 Form Post Response Mode section 2): sent by its script, or by its button. */
export function formPostPage({ action, fields, client }: FormPostProps): Page {
  return {
    title: 'One moment',
    script: 'form-post',
    body: (
      <>
        <h1>One moment</h1>
        <p>
          Taking you back to <strong>{client}</strong>.
        </p>
        <form method="post" action={action} id="form-post">
          {Object.entries(fields).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <noscript>
            <p>Without JavaScript, it takes one more press.</p>
          </noscript>
          <button type="submit" class="primary">
            Continue
          </button>
        </form>
      </>
    ),
  }
}
