/** ms: a frame that hangs keeps nobody; the page says the same to browsers without JavaScript */
const WAIT = 3_000

/** What of a window is needed to know when its page, frames and all, is loaded. */
export interface LoadingPage {
  readonly document: { readonly readyState: string }
  addEventListener(type: 'load', listener: () => void, options: { once: true }): void
}

/** Calls back when the page and its frames are loaded, which may have been before this script ran, and after 3 s at the latest. Once. */
export function whenLoaded(page: LoadingPage, goOn: () => void): void {
  let gone = false
  const once = () => {
    if (!gone) goOn()
    gone = true
  }
  if (page.document.readyState === 'complete') once()
  page.addEventListener('load', once, { once: true }) // a page's own load waits for its frames
  setTimeout(once, WAIT)
}
