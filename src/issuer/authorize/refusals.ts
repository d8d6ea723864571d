import { pageResponse } from '../../http/page.tsx'
import { Refusal } from '../../http/refusal.ts'
import { alreadyCompletedPage } from '../../pages/already-completed.tsx'
import { expiredPage } from '../../pages/expired.tsx'
import { notAdmittedPage } from '../../pages/not-admitted.tsx'
import type { Audience } from '../../policy/admission.ts'
import type { PersonId } from '../../ports/keys.ts'
import type { Issuer } from '../issuer.ts'

type Headers = Readonly<Record<string, string>>

/** The person is proved, and holds no group that the client or the resource requires. Their sign-in stands, so its cookie is handed over. */
export function notAdmitted(audience: Audience, person: PersonId, issuer: Issuer, headers: Headers = {}): Promise<Response> {
  const page = notAdmittedPage({ person, client: clientName(audience) })
  return pageResponse(page, { site: issuer.site, status: 403, requestId: issuer.requestId, headers })
}

/** Two tabs, or a double click: the other one went on to the client. */
export function alreadyCompleted(client: string, issuer: Issuer, headers: Headers = {}): Promise<Response> {
  return pageResponse(alreadyCompletedPage({ client }), { site: issuer.site, status: 409, headers })
}

/** Half an hour has passed, or it never was, or it began in another browser: which of them, a guessed id isn't told. */
export function requestGone(issuer: Issuer): Promise<Response> {
  return pageResponse(expiredPage(), { site: issuer.site, status: 400, requestId: issuer.requestId })
}

/** The directory has no such person, or has suspended them. */
export function notInDirectory(): Refusal {
  return new Refusal(403, {
    code: 'access_denied',
    description: 'The company directory does not list this account, or has suspended it.',
    title: 'This account can’t sign in',
    advice: 'Go back and choose another account, or ask whoever keeps the company directory.',
  })
}

/** The client was taken out of the policy while the request waited. */
export function clientGone(): Refusal {
  return new Refusal(400, {
    code: 'invalid_request',
    description: 'The application that asked is not known here any more.',
    title: 'That application is gone',
    advice: 'Ask whoever runs the application.',
  })
}

/** What people call a client. */
export function clientName({ client, clientId }: Audience): string {
  return client.display_name ?? clientId
}
