import * as z from 'zod'
import { type Bytes, fromUtf8, utf8 } from '../crypto/bytes.ts'
import { ownMessage } from '../telemetry/describe-error.ts'

/**
 * Typed secrets (seed: storage-layout, SSM): what consumers read below `external/`, and the two that operators seed below `internal/`.
 * Their bytes are a contract with programs that are not ours: compact JSON, keys sorted, nothing escaped that JSON does not ask for, every
 * field a string. A breaking change is a new kind of address beside the old one, never another shape at this.
 */
export const documents = {
  /**
   * A client's secret, at `external/oidc/<client>`. `previous-valid-until` (RFC 3339) is ours, and there only when the secret before this one is
   * accepted for another time than a day (docs/decisions/0027).
   */
  oidc: documentType('oidc/v1', ['client-id', 'client-secret'], ['previous-valid-until']),
  /** An installed App's key, at `external/github/<app>`. The ids are in decimal; the key is PEM with its line ends. */
  github: documentType('github/v1', ['app_id', 'installation_id', 'private_key'], ['webhook_secret']),
  /** A catalogue App's token, at `external/slack/<app>`. */
  slack: documentType('slack/v1', ['bot_token']),
  /** A preset's credential as a token, at `external/cloudflare/<preset>`. `expires_on` is RFC 3339. */
  cloudflareToken: documentType('cloudflare/v1', ['expires_on', 'token']),
  /** A preset's credential for R2, at the same address: the secret is the lower-case hex SHA-256 of the token. */
  cloudflareR2: documentType('cloudflare/v1', ['expires_on', 'access_key_id', 'secret_access_key', 'endpoint']),
  /** An account's credential that mints the others, at `internal/cloudflare/<account>/minter`. */
  cloudflareMinter: documentType('cloudflare-minter/v1', ['token']),
  /** Static S3 credentials, at `internal/<module>/<name>` of the module that reads them. */
  s3Credentials: documentType('s3-credentials/v1', ['access_key_id', 'secret_access_key']),
} as const

export type CloudflareCredential =
  | { form: 'token'; credential: FieldsOf<typeof documents.cloudflareToken> }
  | { form: 'r2'; credential: FieldsOf<typeof documents.cloudflareR2> }

/** A cloudflare/v1 document of either form: one that holds a token is of the token form. @throws SecretDocumentError */
export function decodeCloudflareCredential(bytes: Bytes): CloudflareCredential {
  const isToken = 'token' in parseObject(bytes, 'cloudflare/v1')
  return isToken
    ? { form: 'token', credential: documents.cloudflareToken.decode(bytes) }
    : { form: 'r2', credential: documents.cloudflareR2.decode(bytes) }
}

/** A typed secret that can't be written or read. Says which field, and never what it holds. */
export class SecretDocumentError extends Error {
  override readonly name = 'SecretDocumentError'
  readonly [ownMessage] = true
}

export interface DocumentType<Required extends string, Optional extends string> {
  schema: string
  /** The document's bytes. An optional field that is absent or empty is left out. @throws SecretDocumentError a required field is empty */
  encode(fields: Fields<Required, Optional>): Bytes
  /** Its fields; unknown ones are ignored. @throws SecretDocumentError no object, another schema, a field missing, empty or no string */
  decode(bytes: Bytes): Fields<Required, Optional>
}

export type Fields<Required extends string, Optional extends string> = Record<Required, string> & Partial<Record<Optional, string>>
export type FieldsOf<Type> = Type extends DocumentType<infer Required, infer Optional> ? Fields<Required, Optional> : never

function documentType<const Required extends string, const Optional extends string = never>(
  schema: string,
  required: readonly Required[],
  optional: readonly Optional[] = [],
): DocumentType<Required, Optional> {
  const names: readonly string[] = [...required, ...optional].sort()
  const isRequired = (name: string) => required.some((one) => one === name)

  /** The named fields of an object, in the order of their names, which is that of a document. */
  function pick(object: Readonly<Record<string, unknown>>): [string, string][] {
    const fields: [string, string][] = []
    for (const name of names) {
      const value = Object.hasOwn(object, name) ? object[name] : undefined
      if (value !== undefined && typeof value !== 'string') throw refused(schema, `${name} is no string`)
      if (value) fields.push([name, value])
      else if (isRequired(name)) throw refused(schema, `${name} is missing`)
    }
    return fields
  }

  return {
    schema,
    encode(fields) {
      const sorted = [...pick(fields), ['schema', schema] as const].sort(([a], [b]) => (a < b ? -1 : 1))
      return utf8(JSON.stringify(Object.fromEntries(sorted)))
    },
    decode(bytes) {
      const object = parseObject(bytes, schema)
      if (object.schema !== schema) throw refused(schema, 'schema is another')
      return Object.fromEntries(pick(object)) as Fields<Required, Optional> // every required name, and no other than the optional ones
    },
  }
}

const anyObject = z.record(z.string(), z.unknown())

function parseObject(bytes: Bytes, schema: string): Record<string, unknown> {
  const text = fromUtf8(bytes)
  if (text === null) throw refused(schema, 'no UTF-8')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw refused(schema, 'no JSON') // without its cause, which quotes the text
  }
  const object = anyObject.safeParse(parsed)
  if (!object.success) throw refused(schema, 'no JSON object')
  return object.data
}

function refused(schema: string, why: string): SecretDocumentError {
  return new SecretDocumentError(`a document ${schema} is refused: ${why}`)
}
