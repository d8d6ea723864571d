import { CommandError } from '../aws/command.ts'

export interface Statement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  Action: string[]
  Resource: string[]
  Condition?: Record<string, Record<string, string | string[]>>
}

/** A policy document of IAM. */
export interface PolicyDocument {
  Version: '2012-10-17'
  Statement: Statement[]
}

/** characters, white space not counted: what IAM takes as a managed policy */
export const POLICY_LIMIT = 6_144

/**
 * Statements as few documents as take them, in their order. A Deny holds whichever of a user's policies it stands in.
 *
 * @throws CommandError one statement alone is over the limit
 */
export function documentsOf(statements: readonly Statement[]): PolicyDocument[] {
  const documents: PolicyDocument[] = []
  for (const statement of statements) {
    const last = documents.at(-1)
    if (last !== undefined && sizeOf(document([...last.Statement, statement])) <= POLICY_LIMIT) last.Statement.push(statement)
    else documents.push(document([statement]))
  }
  const tooLarge = documents.find((one) => sizeOf(one) > POLICY_LIMIT)
  if (tooLarge)
    throw new CommandError(`the statement ${tooLarge.Statement[0]?.Sid} alone is over the ${POLICY_LIMIT} characters of a policy`)
  return documents
}

function document(statements: Statement[]): PolicyDocument {
  return { Version: '2012-10-17', Statement: statements }
}

/** What IAM counts: names of our resources hold no white space. */
function sizeOf(policy: PolicyDocument): number {
  return JSON.stringify(policy).length
}
