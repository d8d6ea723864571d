/** For answers that are no page: nothing loads, nothing frames it. */
export const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface PageContents {
  /** The page has a script of ours. */
  readonly script?: boolean
  /** The page's script calls the issuer. */
  readonly connect?: boolean
  /** The origin its style and icon come from, where that is not its own. */
  readonly assets?: string
  /** The redirect URI a form of this page can end in: browsers hold form-action against the whole chain of redirects. */
  readonly formActionTo?: string
  /** The addresses of its frames. */
  readonly frames?: readonly string[]
}

/** The Content-Security-Policy of a page: our own style and icon, and of the rest only what the page says it has. */
export function pageCsp({ script = false, connect = false, assets = "'self'", formActionTo, frames = [] }: PageContents = {}): string {
  const target = formActionTo === undefined ? undefined : formTarget(formActionTo)
  const framed = [...new Set(frames.flatMap((frame) => frameOrigin(frame) ?? []))]
  return [
    "default-src 'none'",
    `style-src ${assets}`,
    `img-src ${assets}`,
    ...(script ? ["script-src 'self'"] : []),
    ...(connect ? ["connect-src 'self'"] : []),
    ...(framed.length > 0 ? [`frame-src ${framed.join(' ')}`] : []),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    target === undefined ? "form-action 'self'" : `form-action 'self' ${target}`,
  ].join('; ')
}

/** Schemes that run or hold content of their own: never a place for a form to go. */
const NO_TARGET: ReadonlySet<string> = new Set([
  'javascript:',
  'vbscript:',
  'data:',
  'blob:',
  'file:',
  'filesystem:',
  'about:',
  'ws:',
  'wss:',
])

/**
 * A redirect URI as a source expression (CSP Level 3 section 2.3.1): its origin, or the scheme of a custom one. Undefined for what
 * can't be written as one: the URL standard lets `;`, `,` and `'` stand in a host, and they end a directive. The form is then
 * blocked, which is the safe way to fail.
 */
function formTarget(redirectUri: string): string | undefined {
  if (!URL.canParse(redirectUri)) return undefined
  const url = new URL(redirectUri)
  if (NO_TARGET.has(url.protocol)) return undefined
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return url.protocol
  // an IPv6 address has no source expression, so the scheme stands for it
  if (/^\[[0-9a-f:.]+\]$/.test(url.hostname)) return url.protocol
  return isExpressible(url) ? url.origin : undefined
}

/** A frame's origin as a source expression. Undefined for what has none: the frame is then blocked. */
function frameOrigin(address: string): string | undefined {
  const url = URL.parse(address)
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return url !== null && isWeb && isExpressible(url) ? url.origin : undefined
}

function isExpressible({ hostname }: URL): boolean {
  return /^[a-z0-9._-]+$/.test(hostname)
}
