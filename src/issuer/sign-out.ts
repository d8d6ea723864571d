import { answerEndSession, type EndSessionParts } from '../logout/end-session.ts'
import * as logout from '../logout/logout.ts'
import { endpoints } from './endpoints.ts'
import type { Issuer } from './issuer.ts'
import { browserSignIn } from './signed-in.ts'

// The endpoints of signing out are logout's, which may not import the issuer: what they need of it comes from here.

/** `GET,POST /end_session` */
export function endSession(request: Request, issuer: Issuer): Promise<Response> {
  return answerEndSession(request, partsOf(issuer))
}

/** `GET /logout` */
export function askToSignOut(request: Request, issuer: Issuer): Promise<Response> {
  return logout.askToSignOut(request, partsOf(issuer))
}

/** `POST /logout` */
export function signOutHere(request: Request, issuer: Issuer): Promise<Response> {
  return logout.signOutHere(request, partsOf(issuer))
}

/** `GET /signed-out` */
export function signedOut(request: Request, issuer: Issuer): Promise<Response> {
  return logout.signedOut(request, partsOf(issuer))
}

function partsOf(issuer: Issuer): EndSessionParts {
  return {
    ...issuer,
    path: endpoints.endSession,
    browserSignIn: async (request) => (await browserSignIn(request, issuer))?.value ?? null,
  }
}
