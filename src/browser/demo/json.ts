/** A JSON object somebody else wrote. */
export type JsonObject = Readonly<Record<string, unknown>>

/** @throws Error naming the address, with the OAuth error when the answer holds one */
export async function fetchJson(fetcher: typeof fetch, url: string, init: RequestInit = {}): Promise<JsonObject> {
  const path = new URL(url).pathname
  const response = await fetcher(url, { ...init, headers: { accept: 'application/json', ...init.headers }, credentials: 'omit' })
  const body = objectOf(await response.json().catch(() => null))
  if (!response.ok) {
    const words = [body?.error, body?.error_description].filter((word) => typeof word === 'string').join(': ')
    throw new Error(`${path} answered ${response.status}${words === '' ? '' : `, ${words}`}.`)
  }
  if (body === null) throw new Error(`${path} did not answer a JSON object.`)
  return body
}

export function objectOf(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

/** @throws Error naming the member when it is no text */
export function textOf(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw new Error(`${name} is missing.`)
  return value
}
