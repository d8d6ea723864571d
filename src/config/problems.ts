import type * as z from 'zod'

/** Where in a document something stands: keys and list positions from the top. */
export type Path = readonly (string | number)[]

/** One thing wrong with a document, or (as a warning) odd about it. */
export interface Problem {
  path: Path
  message: string
}

/** A document, or a variable that stands in for one of its fields, that can't be used. Holds everything that is wrong with it. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.problems = problems
  }
}

/** `clients.demo.redirects[0]: has a fragment` */
export function formatProblem(problem: Problem): string {
  return `${formatPath(problem.path)}: ${problem.message}`
}

/** Dotted, list positions in brackets, keys that hold anything but letters, digits, `_` and `-` quoted: `groups["app:demo:user"].members[0]`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (!/^[\w-]+$/.test(step)) text += `[${JSON.stringify(step)}]`
    else text += text === '' ? step : `.${step}`
  }
  return text === '' ? 'document' : text
}

/** Everything about `value` that is not what `schema` says, one problem a fact, each where it stands. */
export function shapeProblems(schema: z.ZodType, value: unknown): Problem[] {
  const parsed = schema.safeParse(value, { reportInput: true })
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => issueProblems(issue, []))
}

/** What of `value` is good enough to judge further: the parsed part, or nothing when its shape is wrong (and reported as such). */
export function part<T>(schema: z.ZodType<T>, value: unknown): T | undefined {
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : undefined
}

/** The parsed items of a list that are good enough, each with where it stands. */
export function parts<T>(schema: z.ZodType<T>, value: unknown): [number, T][] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item, at) => {
    const parsed = schema.safeParse(item)
    return parsed.success ? [[at, parsed.data]] : []
  })
}

/** The entries of a mapping, none when it isn't one. */
export function entries(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
}

/** `value[key]` when value is a mapping that has the key. */
export function field(value: unknown, key: string): unknown {
  return entries(value).find(([name]) => name === key)?.[1]
}

type Issue = z.core.$ZodIssue

function issueProblems(issue: Issue, above: Path): Problem[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], message: 'is not a field this version knows' }))
    case 'invalid_key':
      return issue.issues.map((inner) => ({ path, message: inner.message }))
    case 'invalid_union': {
      const branch = nearestBranch(issue.errors)
      return branch === null ? [{ path, message: issue.message }] : branch.flatMap((inner) => issueProblems(inner, path))
    }
    case 'invalid_type':
    case 'invalid_value':
      return [{ path, message: valueProblem(issue) }]
    default:
      return [{ path, message: issue.message }]
  }
}

function valueProblem(issue: z.core.$ZodIssueInvalidType | z.core.$ZodIssueInvalidValue): string {
  if (issue.input === undefined) return 'is missing'
  if (!issue.message.startsWith('Invalid ')) return issue.message // the schema's own words, not zod's
  if (issue.code === 'invalid_type') return `is ${kindOf(issue.input)}, not ${withArticle(issue.expected)}`
  return issue.values.length === 1 ? `is not ${String(issue.values[0])}` : `is none of ${issue.values.map(String).join(', ')}`
}

/** Of the ways a value could have been written, the one that was meant: only its own keys, and wrong further in. Null when none was. */
function nearestBranch(branches: readonly Issue[][]): Issue[] | null {
  const meant = branches.filter((branch) => branch.every((issue) => issue.code !== 'unrecognized_keys' && issue.path.length > 0))
  return meant[0] ?? null
}

function kindOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a mapping' : withArticle(typeof value)
}

function withArticle(expected: string): string {
  if (expected === 'array') return 'a list'
  return expected === 'record' || expected === 'object' ? 'a mapping' : `a ${expected}`
}
