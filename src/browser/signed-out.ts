import { whenLoaded } from './signed-out/when-loaded.ts'

/** Goes back to the client as soon as the page's frames are loaded. */
const link = document.getElementById('return')

// replaced, not added to the history: going back would show a page that sends on again
if (link instanceof HTMLAnchorElement) whenLoaded(window, () => location.replace(link.href))
