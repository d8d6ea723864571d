/** Where a server is and what its clients know of it. */
export interface Target {
  /** `http://127.0.0.1:<port>` */
  origin: string
  tokenPath: string
  userinfoPath: string
  clientId: string
  redirectUri: string
}

/** An authorization code with the verifier of its challenge (RFC 7636). */
export interface Code {
  code: string
  verifier: string
}

/** A server under measurement. */
export interface Contender {
  name: string
  /** null: it knows no protocol, and answers `GET /`. */
  target: Target | null
  origin: string
  /** Of the process that serves, not of the one that started it; null when the platform does not tell. */
  pid: number | null
  /** How many lines it has logged so far. */
  logLines(): number
  /** Codes that nobody has redeemed, each of an authorization of its own, spread over its people. */
  codes(count: number): Promise<Code[]>
  stop(): Promise<void>
}
