import { keyOf, type Place } from './place.ts'
import type { Statement } from './policy.ts'

/** The key that seals signing keys, for this instance's context and no other's. */
export function sealing(place: Place): Statement[] {
  const { arn, condition } = keyOf(place, place.key)
  return [
    {
      Sid: 'Seal',
      Effect: 'Allow',
      Action: ['kms:Encrypt', 'kms:Decrypt'],
      Resource: [arn],
      Condition: { ...condition, StringEquals: { 'kms:EncryptionContext:instance': place.instance } },
    },
    {
      // A ring the Go service sealed names no instance; it is opened, and never sealed so again.
      Sid: 'OpenAdoptedKeys',
      Effect: 'Allow',
      Action: ['kms:Decrypt'],
      Resource: [arn],
      Condition: { ...condition, StringEquals: { 'kms:EncryptionContext:purpose': 'sluis-signing' } },
    },
  ]
}
