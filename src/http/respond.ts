export interface JsonOptions {
  /** 200 unless said */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A JSON answer that may be kept only as its headers say; without a cache-control it is not kept. */
export function json(body: unknown, { status = 200, headers = {} }: JsonOptions = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

/** A JSON answer that holds tokens or claims: RFC 6749 section 5.1 wants both headers. */
export function tokenJson(body: unknown, { status = 200, headers = {} }: JsonOptions = {}): Response {
  return json(body, { status, headers: { ...headers, 'cache-control': 'no-store', pragma: 'no-cache' } })
}
