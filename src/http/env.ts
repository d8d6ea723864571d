import type { Site } from '../pages/site.ts'
import type { Log } from '../telemetry/log.ts'
import type { PortCalls } from '../telemetry/measured-ports.ts'

/** What the middlewares of this room leave for the routes: `requestId()` sets the first two, `requestLog()` the last. */
export interface HttpEnv {
  Variables: {
    requestId: string
    /** Its every line names the request. */
    log: Log
    /** What the request asks of stores is measured by it. */
    portCalls: PortCalls
  }
}

/** What an answer to a person or a log line needs to know of the request it answers. */
export interface AnswerContext {
  readonly site: Site
  readonly requestId: string
  readonly log: Log
  /**
   * Paths only programs call: their errors are JSON whatever Accept says. Java's HttpURLConnection asks for text/html by default, and
   * an OAuth library can't read a page.
   */
  readonly isProgram?: (path: string) => boolean
}
