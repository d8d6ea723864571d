import * as z from 'zod'
import type { Answer } from './call.ts'
import { type FaultPlan, faultSettings } from './faults.ts'
import type { Requests } from './requests.ts'

interface Asked {
  method: string
  path: string
  body: Buffer
}

/**
 * The emulator's own routes, for tests that run elsewhere; unsigned, as the server listens on loopback only.
 *
 * `POST /_emulator/faults` sets faults, `GET /_emulator/requests` tells what was asked, `POST /_emulator/reset` forgets that and every fault.
 */
export function admin({ method, path, body }: Asked, parts: { faults: FaultPlan; requests: Requests }): Answer {
  switch (`${method} ${path}`) {
    case 'POST /_emulator/faults': {
      const settings = faultSettings.safeParse(parse(body))
      if (!settings.success) return json(400, { error: z.prettifyError(settings.error) })
      parts.faults.set(settings.data)
      return json(200, {})
    }
    case 'GET /_emulator/requests':
      return json(200, parts.requests)
    case 'POST /_emulator/reset':
      parts.faults.clear()
      parts.requests.reset()
      return json(200, {})
    default:
      return json(404, { error: `no ${method} ${path}` })
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function json(status: number, body: object): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
