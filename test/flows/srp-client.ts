import { decodeBase64url, encodeBase64url } from '../../src/crypto/base64url.ts'
import { rfc5054of2048 } from '../../src/crypto/srp/group.ts'
import { fromBytes } from '../../src/crypto/srp/numbers.ts'
import { clientProofs, clientPublic, pad, SECRET_LENGTH, signInSrp } from '../../src/crypto/srp/srp.ts'
import { random, type TestBrowser } from './harness.ts'

/** A browser's half of a password sign-in whose x is known: what a password makes of it is the page's own affair. */
export interface SrpClient {
  A: string
  /** Both proofs, for the B that was answered. */
  proofs(B: string): Promise<{ M1: string; M2: string }>
}

export function srpClient(x: bigint): SrpClient {
  const a = fromBytes(random.bytes(SECRET_LENGTH))
  const A = clientPublic(a, signInSrp)
  return {
    A: encodeBase64url(pad(A, rfc5054of2048)),
    async proofs(B) {
      const proofs = await clientProofs({ A, B: fromBytes(decodeBase64url(B) ?? new Uint8Array(0)), a, x }, signInSrp)
      if (proofs === null) throw new Error('u is 0')
      return { M1: encodeBase64url(proofs.M1), M2: encodeBase64url(proofs.M2) }
    },
  }
}

export interface Started {
  handle: string
  salt: string
  iterations: number
  B: string
}

/** A started exchange, with what proves x in it. */
export async function started(browser: TestBrowser, asked: { auth: string; account: string; x: bigint }) {
  const { auth, account, x } = asked
  const client = srpClient(x)
  const answer = await browser.post('/login/recovery/start', { auth, account, A: client.A })
  if (answer.status !== 200) throw new Error(`start answered ${answer.status}: ${await answer.text()}`)
  const exchange: Started = await answer.json()
  return { ...exchange, ...(await client.proofs(exchange.B)) }
}

/** What `finish` answers who proved x: the form of `complete` is sent with it. */
export async function proved(browser: TestBrowser, asked: { auth: string; account: string; x: bigint }): Promise<string> {
  const { handle, M1, M2 } = await started(browser, asked)
  const answer = await browser.post('/login/recovery/finish', { handle, M1 })
  const body: { M2: string; proof: string } = await answer.json()
  if (answer.status !== 200 || body.M2 !== M2) throw new Error(`finish answered ${answer.status}: ${JSON.stringify(body)}`)
  return body.proof
}
