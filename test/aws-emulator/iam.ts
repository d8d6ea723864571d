/** An identity's policy, as `npm run iam` prints it: the part of IAM's language that this repository's policies speak. */
export interface IamPolicy {
  Version?: string
  Statement: IamStatement | readonly IamStatement[]
}

export interface IamStatement {
  Sid?: string
  Effect: 'Allow' | 'Deny'
  Action: string | readonly string[]
  Resource: string | readonly string[]
  Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

/** The condition keys of a call, such as `dynamodb:LeadingKeys`, with their values. */
export type Context = Readonly<Record<string, readonly string[]>>

/** Refuses unless the caller may do this to that. @throws Refusal AccessDenied, in the service's spelling */
export type Authorize = (action: string, resource: string, context?: Context) => void

export type Decision = 'allowed' | 'denied' | 'not allowed'

/** Whether a policy allows an action (`ssm:GetParameter`) on a resource's ARN: a Deny that matches wins, no Allow that matches is a no. */
export function decide(policy: IamPolicy, action: string, resource: string, context: Context = {}): Decision {
  const matching = list(policy.Statement).filter((statement) => matches(statement, action, resource, context))
  if (matching.some((statement) => statement.Effect === 'Deny')) return 'denied'
  return matching.length > 0 ? 'allowed' : 'not allowed'
}

function matches(statement: IamStatement, action: string, resource: string, context: Context): boolean {
  return (
    // Actions are compared without regard to case, resources with it.
    list(statement.Action).some((pattern) => like(pattern.toLowerCase(), action.toLowerCase())) &&
    list(statement.Resource).some((pattern) => like(pattern, resource)) &&
    Object.entries(statement.Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, list(values), valuesOf(key, context))),
    )
  )
}

type Compare = (pattern: string, value: string) => boolean

const comparisons: Readonly<Record<string, Compare>> = {
  StringEquals: (pattern, value) => pattern === value,
  StringNotEquals: (pattern, value) => pattern !== value,
  StringLike: like,
  StringNotLike: (pattern, value) => !like(pattern, value),
  ArnLike: like,
  ArnEquals: like,
  Bool: (pattern, value) => pattern.toLowerCase() === value.toLowerCase(),
}

/** One operator over the values a policy gives and those the call has; undefined: the call has no such key. */
function holds(operator: string, wanted: readonly string[], present: readonly string[] | undefined): boolean {
  if (operator === 'Null') return wanted.every((value) => (value === 'true') === (present === undefined))
  const [, quantifier = '', base = '', ifExists = ''] = /^(ForAllValues:|ForAnyValue:|)([A-Za-z]+?)(IfExists|)$/.exec(operator) ?? []
  const compare = comparisons[base]
  if (compare === undefined) throw new TypeError(`no such condition operator here: ${operator}`)
  const negated = base.includes('Not')
  const one = (value: string) =>
    negated ? wanted.every((pattern) => compare(pattern, value)) : wanted.some((pattern) => compare(pattern, value))
  // ForAllValues is true of a call without the key: a Scan passes a condition on LeadingKeys.
  if (quantifier === 'ForAllValues:') return (present ?? []).every(one)
  if (present === undefined) return ifExists !== '' || (negated && quantifier === '')
  return present.some(one)
}

/** Condition keys are compared without regard to case, but for what stands after `kms:EncryptionContext:`. */
function valuesOf(key: string, context: Context): readonly string[] | undefined {
  const found = Object.keys(context).find((name) => spelt(name) === spelt(key))
  return found === undefined ? undefined : context[found]
}

function spelt(key: string): string {
  const prefix = 'kms:encryptioncontext:'
  return key.toLowerCase().startsWith(prefix) ? prefix + key.slice(prefix.length) : key.toLowerCase()
}

/** `*` is any run of characters, `?` any one. */
function like(pattern: string, value: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(value)
}

function list<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T]
}
