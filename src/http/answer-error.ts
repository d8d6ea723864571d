import { errorPage } from '../pages/error.tsx'
import { isPortError, type PortError } from '../ports/error.ts'
import { wantsPage } from './accept.ts'
import type { AnswerContext } from './env.ts'
import { OAuthError, serverError, temporarilyUnavailable } from './oauth-error.ts'
import { pageResponse } from './page.tsx'
import { Refusal, type RefusalWords } from './refusal.ts'
import { tokenJson } from './respond.ts'

/** s: a throttled table or a moving Durable Object is back within a few; a client that waits longer keeps a person waiting */
const RETRY_AFTER = 5

/**
 * What was thrown, as the answer: `{error, error_description}` for programs, a page for people. What is not a refusal is a 500
 * `server_error` under the request's id, logged, with nothing of it in the answer. A store that cannot be read is 503.
 */
export async function answerError(thrown: unknown, request: Request, context: AnswerContext): Promise<Response> {
  const error = refusalOf(thrown)
  const level = error.status >= 500 ? 'error' : 'info'
  context.log[level]('request.refused', { code: error.code, status: error.status, error: level === 'error' ? thrown : error })

  const words = error instanceof Refusal ? error.words : wordsOf(error)
  if (!isForPeople(request, context)) {
    return tokenJson({ error: words.code, error_description: words.description }, { status: error.status, headers: words.headers ?? {} })
  }
  const { site, requestId } = context
  return pageResponse(errorPage(words), { site, requestId, status: error.status, headers: words.headers ?? {} })
}

function refusalOf(thrown: unknown): OAuthError | Refusal {
  if (thrown instanceof OAuthError || thrown instanceof Refusal) return thrown
  if (isPortError(thrown, 'Unavailable')) return unavailable(thrown)
  return serverError('something went wrong on our side', thrown)
}

/** It says when to come back only where somebody is at work on this installation, which people may know. */
function unavailable(cause: PortError): OAuthError {
  const { retryAfter } = cause
  if (retryAfter === undefined) return temporarilyUnavailable(RETRY_AFTER, { cause })
  return temporarilyUnavailable(retryAfter, { cause }, 'this service is being worked on, and changes nothing for now; try again shortly')
}

function isForPeople(request: Request, { isProgram }: AnswerContext): boolean {
  return wantsPage(request) && isProgram?.(pathOf(request)) !== true
}

/** As routes are matched: `/%74oken` is `/token`. */
function pathOf(request: Request): string {
  const { pathname } = new URL(request.url)
  try {
    return decodeURI(pathname)
  } catch {
    return pathname
  }
}

function wordsOf(error: OAuthError): RefusalWords {
  const { code, description, headers } = error
  if (error.status === 503) {
    const advice = `Wait ${headers['retry-after'] ?? 'a few'} seconds and reload this page.`
    return { code, description, headers, title: 'Not right now', advice }
  }
  if (error.status >= 500) {
    const advice = 'Try again. If it stays like this, tell whoever runs this service the request number below.'
    return { code, description, headers, title: 'Something went wrong', advice }
  }
  const advice =
    'Go back to the application and start again. If it stays like this, its developer needs the code and the request number below.'
  return { code, description, headers, title: 'That request was not valid', advice }
}
