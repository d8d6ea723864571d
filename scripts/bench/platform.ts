import { join } from 'node:path'
import { unstable_readConfig } from 'wrangler'
import { ROOT } from '../build.ts'

/** Every Worker of the bench runs on the platform as wrangler.toml asks for it. */
export function compatibility(): { compatibilityDate: string; compatibilityFlags: string[] } {
  const { compatibility_date, compatibility_flags } = unstable_readConfig({ config: join(ROOT, 'wrangler.toml') })
  if (compatibility_date === undefined) throw new TypeError('wrangler.toml names no compatibility_date')
  return { compatibilityDate: compatibility_date, compatibilityFlags: compatibility_flags ?? [] }
}
