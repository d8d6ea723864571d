import { rfc5054of2048 } from '../../../src/crypto/srp/group.ts'
import { fromBytes } from '../../../src/crypto/srp/numbers.ts'
import { clientPublic, SECRET_LENGTH, serverProofs, serverPublic, signInSrp, verifierFrom } from '../../../src/crypto/srp/srp.ts'

const drawn = (length: number) => fromBytes(crypto.getRandomValues(new Uint8Array(length)))

/** Of this isolate: whose password it is, and what a browser sends, cost the issuer nothing. */
let known: { v: bigint; A: bigint } | undefined

// biome-ignore lint/style/noDefaultExport: a Worker's entry
export default {
  /** All that the issuer computes for one sign-in by password: B for `start`, S and both proofs for `finish`. */
  async fetch(): Promise<Response> {
    known ??= { v: verifierFrom(drawn(SECRET_LENGTH), signInSrp), A: clientPublic(drawn(SECRET_LENGTH), signInSrp) }
    const { v, A } = known
    const b = drawn(SECRET_LENGTH)
    const B = await serverPublic({ v, b }, signInSrp)
    const proofs = await serverProofs({ A, B, b, v }, signInSrp)
    return Response.json({ bits: rfc5054of2048.length * 8, M1: proofs?.M1.length })
  },
}
