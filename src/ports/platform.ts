/** unix milliseconds */
export interface Clock {
  now(): number
}

export interface Random {
  bytes(length: number): Uint8Array<ArrayBuffer>
}

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Bytes that WebCrypto and fetch take as they are: never over shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>
