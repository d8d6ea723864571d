import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import type { Sha256Hex } from '../crypto/digest.ts'
import { keys } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { names } from './claims.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

/** seconds: as long as it takes to find a phone and a password (RFC 8628 section 3.2) */
export const DEVICE_REQUEST_LIFETIME = 600

const approval = z.looseObject({
  identity: z.string().describe('who allowed it'),
  ...names,
  groups: z.array(z.string()).describe('the groups of the policy held then'),
  method: z.string(),
  acr: z.string(),
  amr: z.array(z.string()).optional(),
  auth_time: instant,
  sign_in: z.string().describe('the sign-in it was allowed under: should that end before the device is redeemed, nothing opens'),
})

const schema = z.looseObject({
  client_id: z.string(),
  scopes: z.array(z.string()),
  resource: z.string().optional(),
  user_code: z.string(),
  country: z.string().optional().describe('where the device asked from, as the platform saw it: two letters'),
  expires_at: instant,
  approval: approval.optional(),
  denied: z.boolean().optional(),
})

export const deviceRequest = {
  key: 'req.dc-<sha256>',
  purpose: 'A device that waits for a person to allow it, by the hash of its device code.',
  lifetime: '10 min',
  schema,
} satisfies RecordType<typeof schema>

export type DeviceRequest = z.output<typeof schema>

const pointerSchema = z.string()

export const userCode = {
  key: 'req.uc-<user code>',
  purpose: 'The device a user code is of: the hash of its device code, as text.',
  lifetime: '10 min',
  schema: pointerSchema,
} satisfies RecordType<typeof pointerSchema>

/** @throws PortError Exists: another device waits under this user code */
export async function createDeviceRequest(state: State, hash: Sha256Hex, value: DeviceRequest): Promise<void> {
  await state.create(keys.userCode(value.user_code), utf8(hash), DEVICE_REQUEST_LIFETIME)
  await state.create(keys.deviceRequest(hash), writeRecord(deviceRequest, value), DEVICE_REQUEST_LIFETIME)
}

export async function findDeviceRequest(state: State, hash: string, log: Log): Promise<Found<DeviceRequest> | null> {
  const entry = await state.get(keys.deviceRequest(hash))
  const value = readRecord(deviceRequest, entry, log)
  return entry === null || value === null ? null : { value, entry }
}

/** A device's request with the hash of its device code, which names it: who holds the hash has seen the request, and can't redeem it. */
export interface FoundDevice extends Found<DeviceRequest> {
  hash: string
}

export async function findByUserCode(state: State, code: string, log: Log): Promise<FoundDevice | null> {
  const pointer = await state.get(keys.userCode(code))
  const hash = pointer === null ? null : fromUtf8(pointer.value)
  const found = hash === null ? null : await findDeviceRequest(state, hash, log)
  return hash === null || found === null ? null : { ...found, hash }
}

/** Writes a person's answer over the revision they saw. @throws PortError Conflict (somebody answered), NotFound (it ran out) */
export function answerDeviceRequest(
  state: State,
  found: Found<DeviceRequest>,
  answer: Pick<DeviceRequest, 'approval' | 'denied'>,
  now: number,
): Promise<Rev> {
  const left = Math.max(found.value.expires_at - now, 1)
  return state.update(found.entry.key, writeRecord(deviceRequest, { ...found.value, ...answer }), left, found.entry.rev)
}

/** Takes the request and its user code away: it was redeemed. */
export async function deleteDeviceRequest(state: State, hash: string, code: string): Promise<void> {
  await Promise.all([state.delete(keys.deviceRequest(hash)), state.delete(keys.userCode(code))])
}
