import * as z from 'zod'
import { decodeBase64url } from '../crypto/base64url.ts'
import type { Bytes } from '../crypto/bytes.ts'
import { Refusal } from '../http/refusal.ts'
import { isPortError } from '../ports/error.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Trigger } from '../ports/trigger.ts'
import type { Tick } from '../ticks/tick.ts'

const base64url = z.string().transform((text, context): Bytes => {
  const bytes = decodeBase64url(text)
  if (bytes !== null && bytes.length > 0) return bytes
  context.addIssue({ code: 'custom', message: 'must be base64url of at least one byte' })
  return z.NEVER
})

const command = z.discriminatedUnion('command', [
  z.strictObject({ command: z.literal('secret.put'), path: z.string(), value: base64url }),
  z.strictObject({ command: z.literal('secret.list'), prefix: z.string() }),
  z.strictObject({ command: z.literal('tick.run'), kind: z.string(), target: z.string() }),
])

/** What commands work on. */
export interface Commanded {
  secrets: Secrets
  ticks: readonly Tick[]
  trigger: Trigger
}

/** Every answer to an operator: what was done, never a secret. */
export type CommandResult = { ok: true } & Record<string, unknown>

/**
 * Carries out one command of an operator: `secret.put` writes a secret at its address, `secret.list` names the addresses below a prefix,
 * `tick.run` has a target run at once.
 *
 * @throws Refusal 400: no such command, or one of its fields is wrong. PortError Unavailable
 */
export async function runCommand(body: unknown, { secrets, ticks, trigger }: Commanded): Promise<CommandResult> {
  const parsed = command.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw badCommand(`${issue?.path.join('.') || 'the body'}: ${issue?.message}`)
  }
  try {
    switch (parsed.data.command) {
      case 'secret.put':
        return { ok: true, version: await secrets.put(parsed.data.path, parsed.data.value) }
      case 'secret.list':
        return { ok: true, paths: await secrets.list(parsed.data.prefix) }
      case 'tick.run':
        return await runTick(parsed.data, ticks, trigger)
    }
  } catch (error) {
    if (isPortError(error, 'Unsupported', 'TooLarge', 'NotOwner')) throw badCommand(error.message)
    throw error
  }
}

async function runTick({ kind, target }: Pick<Tick, 'kind' | 'target'>, ticks: readonly Tick[], trigger: Trigger): Promise<CommandResult> {
  const known = ticks.map((tick) => `${tick.kind}:${tick.target}`)
  if (!known.includes(`${kind}:${target}`)) throw badCommand(`there is no tick ${kind}:${target}, only ${known.join(', ')}`)
  await trigger.notify(`${kind}:${target}`)
  return { ok: true, asked: `${kind}:${target}` }
}

function badCommand(description: string): Refusal {
  return new Refusal(400, {
    code: 'invalid_request',
    description,
    title: 'Not carried out',
    advice: 'docs/operate.md lists the commands and their fields.',
  })
}
