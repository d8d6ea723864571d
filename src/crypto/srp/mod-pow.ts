const WINDOW = 5 // bits: for an exponent of 256 it costs 16 multiplications to prepare and saves about 80

/**
 * `base^exponent mod modulus`, by a sliding window: a square a bit and a multiplication for every six or so. BigInt makes a 2048-bit modulus
 * and a 256-bit exponent in about a millisecond. It does not take the same time for every exponent; those used here are drawn for one
 * sign-in and gone after it, so that nobody can measure one twice.
 *
 * @param exponent not negative
 */
export function modPow(base: bigint, exponent: bigint, modulus: bigint): bigint {
  const bits = exponent.toString(2)
  const odd = oddPowers(base % modulus, modulus)
  let result = 1n
  let at = 0
  while (at < bits.length) {
    if (bits[at] === '0') {
      result = (result * result) % modulus
      at += 1
      continue
    }
    const window = windowAt(bits, at)
    for (let bit = 0; bit < window.length; bit++) result = (result * result) % modulus
    result = (result * (odd[Number.parseInt(window, 2) >> 1] ?? 1n)) % modulus
    at += window.length
  }
  return result
}

/** The longest run of bits from here that ends in a one: what it stands for is odd. */
function windowAt(bits: string, at: number): string {
  const most = bits.slice(at, at + WINDOW)
  return most.slice(0, most.lastIndexOf('1') + 1)
}

/** base, base^3, base^5, ... */
function oddPowers(base: bigint, modulus: bigint): bigint[] {
  const square = (base * base) % modulus
  const powers = [base]
  for (let last = base; powers.length < 2 ** (WINDOW - 1); powers.push(last)) last = (last * square) % modulus
  return powers
}
