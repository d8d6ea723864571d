import { type Bytes, hex } from '../bytes.ts'

/** Big-endian, as everything of SRP is. */
export function fromBytes(bytes: Bytes): bigint {
  return BigInt(`0x0${hex(bytes)}`)
}

/** Big-endian in `length` bytes. @throws RangeError it does not fit, or is negative */
export function toBytes(number: bigint, length: number): Bytes {
  const digits = number.toString(16).padStart(length * 2, '0')
  if (number < 0n || digits.length > length * 2) throw new RangeError(`a number does not fit ${length} bytes`)
  return Uint8Array.from({ length }, (_, at) => Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16))
}
