import { type OAuthHelpers, OAuthProvider } from '@cloudflare/workers-oauth-provider'

interface Env {
  OAUTH_PROVIDER: OAuthHelpers
  /** Where it runs: part of the bundle's bindings. */
  ORIGIN: string
}
