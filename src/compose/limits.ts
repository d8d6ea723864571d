import { limiter, unlimited } from '../http/rate-limit.ts'
import type { Limits } from '../issuer/issuer.ts'
import type { Log } from '../telemetry/log.ts'
import type { Env } from './env.ts'

/** s: what each binding of wrangler.toml counts over */
export function limits({ TOKEN, USER_CODE, SIGN_IN, DEVICE_POLL }: Env, log: Log): Limits {
  return {
    token: limiter('TOKEN', TOKEN, 60, log),
    userCode: limiter('USER_CODE', USER_CODE, 60, log),
    signIn: limiter('SIGN_IN', SIGN_IN, 60, log),
    devicePoll: limiter('DEVICE_POLL', DEVICE_POLL, 10, log),
  }
}

/** Where nothing counts. */
export const noLimits: Limits = { token: unlimited, userCode: unlimited, signIn: unlimited, devicePoll: unlimited }
