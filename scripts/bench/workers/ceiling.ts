import { DurableObject } from 'cloudflare:workers'

interface Env {
  ROWS: { getByName(name: string): { write(id: string, value: string): Promise<void> } }
}

/** As many as the issuer spreads its records over. */
const OBJECTS = 16

const CURVE = { name: 'ECDSA', namedCurve: 'P-256' }
const ES256 = { name: 'ECDSA', hash: 'SHA-256' }

/** Rows that are only written. */
export class Rows extends DurableObject {
  constructor(...parts: ConstructorParameters<typeof DurableObject>) {
    super(...parts)
    this.ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS row (id TEXT PRIMARY KEY, value TEXT NOT NULL)')
  }

  async write(id: string, value: string): Promise<void> {
    this.ctx.storage.sql.exec('INSERT INTO row (id, value) VALUES (?, ?)', id, value)
  }
}

/** Of this isolate: a key is made once, before anything is measured. */
let key: CryptoKey | undefined
let served = 0

// biome-ignore lint/style/noDefaultExport: a Worker's entry
export default {
  /** The least that any issuer on this platform does for a token: one row written, one ES256 signature. */
  async fetch(_request: Request, env: Env): Promise<Response> {
    key ??= (await crypto.subtle.generateKey(CURVE, false, ['sign', 'verify'])).privateKey
    const id = crypto.randomUUID()
    const claims = JSON.stringify({ iss: 'http://127.0.0.1', sub: 'ada@acme.example', jti: id, iat: Math.floor(Date.now() / 1000) })
    const [signature] = await Promise.all([
      crypto.subtle.sign(ES256, key, new TextEncoder().encode(claims)),
      env.ROWS.getByName(String(served++ % OBJECTS)).write(id, claims),
    ])
    return Response.json({ claims, signature: btoa(String.fromCharCode(...new Uint8Array(signature))) })
  },
}
