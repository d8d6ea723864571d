import { endpoints } from '../endpoints.ts'
import type { Issuer } from '../issuer.ts'

/** bytes: what HTTP clients and proxies take in one header */
export const LONGEST_LOCATION = 15_000

/** The authorization endpoint, asked by GET with these parameters. */
export function authorizationUrl(parameters: [name: string, value: string][], issuer: Pick<Issuer, 'url'>): string {
  return `${issuer.url}${endpoints.authorization}?${new URLSearchParams(parameters)}`
}
