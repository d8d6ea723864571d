import * as z from 'zod'
import { CommandError } from '../aws/command.ts'

const listed = z.object({
  client: z.string(),
  path: z.string(),
  problem: z.string().nullable(),
  written: z.string().nullable(),
  previous_until: z.string().nullable(),
})

/** What each command answers, of what is used of it. */
const answers = {
  list: z.object({ clients: z.array(listed), orphans: z.array(z.object({ client: z.string(), path: z.string() })) }),
  show: z.object({ opened: z.string() }),
  rotate: z.object({ previous_until: z.string().nullable() }),
  purge: z.object({ purged: z.array(z.string()) }),
} as const

type Answers = { [name in keyof typeof answers]: z.output<(typeof answers)[name]> }

/** @throws CommandError it is none: an issuer of another version answered */
export function parseAnswer<Name extends keyof Answers>(name: Name, answer: Record<string, unknown>): Answers[Name] {
  const parsed = answers[name].safeParse(answer)
  if (parsed.success) return parsed.data as Answers[Name] // TypeScript does not follow a name through a table
  throw new CommandError(`the issuer gave an answer that this version does not know: are both of the same version?`)
}

/** A line a client, and one for each thing that is left of others. */
export function listing({ clients, orphans }: Answers['list']): string {
  const lines = [
    ...clients.map(({ client, path, problem, written, previous_until }) => {
      const before = previous_until === null ? '' : `, the one before is good until ${previous_until}`
      if (problem !== null) return `${client}: authenticates nobody: ${problem} (${path}${written === null ? '' : `, written ${written}`})`
      return `${client}: written ${written}${before}`
    }),
    ...orphans.map(
      ({ client, path }) => `${client}: no client of the policy has its secret at ${path}. npm run clients -- purge ${client}`,
    ),
  ]
  return lines.length === 0 ? 'no client has a generated secret' : lines.join('\n')
}
