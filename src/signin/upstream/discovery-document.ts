import * as z from 'zod'

/** What is used of a provider's discovery document (OpenID Connect Discovery section 3, RFC 9207 section 3). */
export const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  userinfo_endpoint: z.string().exactOptional(),
  id_token_signing_alg_values_supported: z.array(z.string()).default(['RS256']),
  token_endpoint_auth_methods_supported: z.array(z.string()).default(['client_secret_basic']),
  /** Initiating User Registration via OpenID Connect section 4.1. */
  prompt_values_supported: z.array(z.string()).default([]),
  authorization_response_iss_parameter_supported: z.boolean().default(false),
})

export type Metadata = z.output<typeof metadata>

/** A key set (RFC 7517 section 5), as far as it must be one before a key is looked for in it. */
export const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) })
