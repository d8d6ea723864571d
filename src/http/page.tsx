import { Document, type Page } from '../pages/layout.tsx'
import type { Site } from '../pages/site.ts'
import { pageCsp } from './csp.ts'

export interface PageOptions {
  readonly site: Site
  /** 200 unless said */
  readonly status?: number
  /** The redirect URI a form of this page can end in. */
  readonly formActionTo?: string
  /** Shown in the footer: of pages that tell of an error. */
  readonly requestId?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A page as a whole document, with the Content-Security-Policy of what it holds. Never kept. */
export async function pageResponse(page: Page, options: PageOptions): Promise<Response> {
  const { site, status = 200, formActionTo, requestId, headers = {} } = options
  const document = await (<Document site={site} page={page} requestId={requestId} />)
  const csp = pageCsp({
    script: page.script !== undefined,
    connect: page.connects === true,
    ...(page.elsewhere === true ? { assets: site.issuer } : {}),
    ...(formActionTo === undefined ? {} : { formActionTo }),
    ...(page.frames === undefined ? {} : { frames: page.frames }),
  })
  return new Response(`<!doctype html>${document}`, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': csp,
      // not no-referrer: under that, browsers send `Origin: null` with our own forms, and the same-origin check could not tell them
      'referrer-policy': 'same-origin',
      ...headers,
    },
  })
}
