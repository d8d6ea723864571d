import * as z from 'zod'

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** A duration as people write it (`90s`, `15m`, `12h`, `30d`), in whole seconds above 0. */
export const duration = z
  .string('is not a duration like 90s, 15m, 12h or 30d')
  .regex(/^[1-9][0-9]{0,6}[smhd]$/, 'is not a duration like 90s, 15m, 12h or 30d')
  .transform((text) => Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS])

/** The signing algorithms a ring can have (RFC 7518 section 3.1, RFC 8037 section 3.1). */
export const signingAlg = z.enum(['ES256', 'RS256', 'ES384', 'EdDSA'])
export type SigningAlg = z.output<typeof signingAlg>

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?'

/** A host name with at least one dot, lower-cased. */
export const domain = z
  .string()
  .max(253, 'is longer than a host name can be (253)') // RFC 1035 section 2.3.4
  .regex(new RegExp(`^${LABEL}(?:\\.${LABEL})+$`), 'is not a domain like acme.example')
  .toLowerCase()

/** An address of a person or of a directory group, lower-cased: identities are compared that way. */
export const email = z
  .string()
  .max(254, 'is longer than an address can be (254)') // RFC 5321 section 4.5.3.1.3, less its angle brackets
  .regex(new RegExp(`^[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]+@${LABEL}(?:\\.${LABEL})+$`), 'is not an address like ada@acme.example')
  .toLowerCase()

/** Text for people, of at most `limit` characters: nothing that could break a line, or turn the reading direction of what follows it. */
export function text(limit: number) {
  return z
    .string()
    .refine((value) => value.trim() !== '', 'is blank')
    .refine((value) => [...value].length <= limit, `is longer than ${limit} characters`)
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(value), 'holds a control or a text direction character')
}

const RESERVED_INSTANCES = ['private', 'export', 'internal', 'external'] // names the secret layout uses beside instances (seed: storage-layout)

/** What tables, secrets and keys of this installation are named after. At most 32: it is a part of longer names that have limits. */
export const instanceName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'is not 1 to 32 lower-case letters, digits and inner dashes')
  .refine((name) => !RESERVED_INSTANCES.includes(name), `is a name kept for the layout (${RESERVED_INSTANCES.join(', ')})`)

/** A client's id: printable ASCII without spaces, so that it travels through forms, headers and keys as it is. */
export const clientId = z.string().regex(/^[!-~]{1,200}$/, 'is not a client id: 1 to 200 printable ASCII characters without spaces')

/** An identifier of an API (RFC 8707 section 2): an absolute URI without a fragment. */
export const resourceId = z
  .string()
  .max(200, 'is longer than 200 characters')
  .regex(/^[a-z][a-z0-9+.-]*:[!"$-~]+$/, 'is not a resource: an absolute URI without a fragment (RFC 8707 section 2)')

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/** Whether a URL's `hostname` is this computer's own: `localhost`, `127.0.0.1` or `[::1]`, and nothing else. */
export function isLoopbackHost(hostname: string): boolean {
  return LOOPBACK_HOSTS.includes(hostname)
}

/** An issuer's identifier as this service has it: an origin, https unless the host is loopback. */
export const issuerOrigin = z.string().superRefine((value, context) => {
  const problem = issuerProblem(value)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})

/** Where Cloudflare is asked to place new Durable Objects. */
export const locationHint = z.enum(['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'apac-ne', 'apac-se', 'oc', 'afr', 'me'])

/** A region of AWS, such as `eu-west-1`. */
export const awsRegion = z.string().regex(/^[a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2}$/, 'is not an AWS region like eu-west-1')

/** A KMS key by its alias. An ARN or a key id would be of one key for ever, and `alias/aws/` are AWS's own, which take no context of ours. */
export const keyAlias = z
  .string()
  .regex(/^alias\/[a-zA-Z0-9/_-]+$/, 'is not a KMS alias like alias/sluis-acme (no ARN, no key id)')
  .max(256, 'is longer than an alias can be (256)')
  .refine((name) => !name.startsWith('alias/aws/'), "is an alias of AWS's own keys: make a key of your own")

/** An S3 bucket by its name (its dots would break the certificate of its host). */
export const bucketName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, 'is not the name of an S3 bucket: 3 to 63 lower-case letters, digits and dashes')

function issuerProblem(value: string): string | null {
  const url = URL.parse(value)
  if (url === null || url.host === '') return 'is not an origin like https://id.acme.example'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname))) {
    return 'is not https (http is for localhost, 127.0.0.1 and [::1] only)'
  }
  if (value !== url.origin) return `is not a bare origin: no path, no query, no trailing slash, written ${url.origin}`
  return null
}
