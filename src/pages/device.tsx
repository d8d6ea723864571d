import type { Page } from './layout.tsx'

/** Where the code that a device shows is typed. `typed` is what was typed before, or came with the link; `problem` what was wrong with it. */
export function deviceCodePage({
  typed = '',
  problem,
}: {
  readonly typed?: string | undefined
  readonly problem?: string | undefined
}): Page {
  return {
    title: 'Connect a device',
    body: (
      <>
        <h1>Connect a device</h1>
        {problem === undefined ? null : (
          <p class="notice bad" role="alert">
            {problem}
          </p>
        )}
        <p>Type the code that your device shows.</p>
        <form method="post" action="/device">
          <p>
            <label for="user_code">Code</label>
            <input
              id="user_code"
              name="user_code"
              value={typed}
              required
              autofocus
              autocomplete="off"
              autocapitalize="characters"
              spellcheck={false}
              maxlength={16}
              placeholder="XXXX-XXXX"
              class="code"
            />
          </p>
          <button type="submit" class="primary">
            Continue
          </button>
        </form>
        <OnlyYourOwn />
      </>
    ),
  }
}

export interface DeviceConsent {
  readonly person: string
  readonly client: string
  readonly description?: string | undefined
  /** The request's own name, which the form sends back. */
  readonly request: string
  /** As the device shows it. */
  readonly userCode: string
  /** As the platform said it: two letters, or `T1`. */
  readonly country?: string | undefined
  /** What the device would get, in words. */
  readonly gets: readonly string[]
}

/** Who asks, from where and for what. It never decides by itself. */
export function deviceConsentPage({ person, client, description, request, userCode, country, gets }: DeviceConsent): Page {
  return {
    title: 'Allow this device?',
    body: (
      <>
        <h1>Allow this device?</h1>
        <p>
          <strong>{client}</strong> wants to sign in as <strong>{person}</strong>.
        </p>
        {description === undefined ? null : <p class="quiet">{description}</p>}
        <dl>
          <dt>The code on your device</dt>
          <dd>
            <code>{userCode}</code>
          </dd>
          <dt>It asks from</dt>
          <dd>{country === undefined ? 'a place we don’t know' : countryName(country)}</dd>
          <dt>It gets</dt>
          <dd>
            <ul>
              {gets.map((what) => (
                <li key={what}>{what}</li>
              ))}
            </ul>
          </dd>
        </dl>
        <OnlyYourOwn />
        <form method="post" action="/device">
          <input type="hidden" name="user_code" value={userCode} />
          <input type="hidden" name="request" value={request} />
          <input type="hidden" name="person" value={person} />
          <p class="choices">
            <button type="submit" name="action" value="allow" class="primary">
              Allow
            </button>
            <button type="submit" name="action" value="deny">
              Deny
            </button>
          </p>
        </form>
      </>
    ),
  }
}

export function deviceDonePage({ allowed, client }: { readonly allowed: boolean; readonly client: string }): Page {
  return {
    title: allowed ? 'Device connected' : 'Device refused',
    body: (
      <>
        <h1>{allowed ? 'Your device is signed in' : 'Refused'}</h1>
        <p>
          {allowed ? (
            <>
              Go back to <strong>{client}</strong> on your device. You can end this at any time on <a href="/account">your account page</a>.
            </>
          ) : (
            <>
              <strong>{client}</strong> was not let in. If you did not start this yourself, somebody tried to sign in as you: tell whoever
              looks after security.
            </>
          )}
        </p>
      </>
    ),
  }
}

function OnlyYourOwn() {
  return (
    <p class="notice">
      Only go on if you started this yourself, just now, on a device in front of you. Nobody else should ever send you a code.
    </p>
  )
}

function countryName(country: string): string {
  if (country === 'T1') return 'the Tor network'
  return new Intl.DisplayNames(['en'], { type: 'region' }).of(country) ?? country
}
