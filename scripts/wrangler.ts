import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The Node that runs this: what npm put first in the path. */
export const node = process.execPath

/** The wrangler of this repository, as a script for `node`: no shell, no global one. */
export const wranglerScript = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin/wrangler.js')

/** An environment in which wrangler reports to nobody, asks nobody and writes no log of its own. */
export function quietWrangler(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_SEND_ERROR_REPORTS: 'false',
    WRANGLER_HIDE_BANNER: 'true', // and with it the question to the registry whether there is a newer one
    WRANGLER_NO_SKILLS_UPDATE_PROMPTS: 'true',
    WRANGLER_WRITE_LOGS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    X_LOCAL_OBSERVABILITY: 'false', // it would keep every request of a local run, with the codes in their addresses
    NO_COLOR: '1',
  }
}
