import type { Bytes } from '../../crypto/bytes.ts'

// RFC 1321 section 3.4: the bits each step rotates by, four in turn in each of the four rounds, and 2^32 times the sine of the step's number.
const ROTATIONS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
]
const SINES = Array.from({ length: 64 }, (_, step) => Math.floor(2 ** 32 * Math.abs(Math.sin(step + 1))))

/** MD5 (RFC 1321), which S3 makes ETags of and Node's WebCrypto does not have. Proves nothing: only for comparing with an ETag. */
export function md5(message: Bytes): Bytes {
  const padded = padding(message)
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
  for (let at = 0; at < padded.byteLength; at += 64) addBlock(state, padded, at)
  const digest = new DataView(new ArrayBuffer(16))
  for (const [at, word] of state.entries()) digest.setUint32(4 * at, word, true)
  return new Uint8Array(digest.buffer)
}

/** The message, a bit, zeros, and its length in bits: whole blocks of 64 bytes. */
function padding(message: Bytes): DataView {
  const whole = new Uint8Array(64 * Math.ceil((message.length + 9) / 64))
  whole.set(message)
  whole[message.length] = 0x80
  const view = new DataView(whole.buffer)
  view.setBigUint64(whole.length - 8, 8n * BigInt(message.length), true)
  return view
}

function addBlock(state: number[], block: DataView, at: number): void {
  let [a = 0, b = 0, c = 0, d = 0] = state
  for (let step = 0; step < 64; step++) {
    const [mixed, word] = roundOf(step, b, c, d)
    const sum = a + mixed + (SINES[step] ?? 0) + block.getUint32(at + 4 * word, true)
    const bits = ROTATIONS[step >> 4]?.[step & 3] ?? 0
    const rotated = (sum << bits) | ((sum >>> 0) >>> (32 - bits))
    ;[a, d, c, b] = [d, c, b, (b + rotated) | 0]
  }
  for (const [word, value] of [a, b, c, d].entries()) state[word] = ((state[word] ?? 0) + value) | 0
}

/** What a step mixes of b, c and d, and the word of the block it takes. */
function roundOf(step: number, b: number, c: number, d: number): [number, number] {
  if (step < 16) return [(b & c) | (~b & d), step]
  if (step < 32) return [(d & b) | (~d & c), (5 * step + 1) % 16]
  if (step < 48) return [b ^ c ^ d, (3 * step + 5) % 16]
  return [c ^ (b | ~d), (7 * step) % 16]
}
