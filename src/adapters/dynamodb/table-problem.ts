import { awsUnavailable, type JsonClient } from '../aws/aws.ts'

/** What the layout's tables are keyed by (seed: storage-layout, DynamoDB). */
const SCHEMA = 'pk S HASH, sk S RANGE'

/**
 * What an operator has to do before a table can serve, in one sentence that names it; null when nothing. Whether its TTL is on is no
 * matter of readiness: the dead are dead by our clock, and TTL only clears them away.
 */
export async function tableProblem(client: JsonClient, table: string): Promise<string | null> {
  let answer: Record<string, unknown>
  try {
    answer = await client.call({ operation: 'DescribeTable', input: { TableName: table } })
  } catch (error) {
    return awsUnavailable(error, `table ${table}`).message
  }
  const { status, schema } = readDescription(answer)
  if (schema !== SCHEMA) return `table ${table} is keyed by ${schema}, not by ${SCHEMA}: it is no table of this layout, name another`
  switch (status) {
    case 'ACTIVE':
    case 'UPDATING': // of its capacity or settings: it reads and writes meanwhile
      return null
    case 'CREATING':
      return `table ${table} is being created: wait until it is ACTIVE`
    case 'INACCESSIBLE_ENCRYPTION_CREDENTIALS':
      return `table ${table} can't use its KMS key: enable the key, or give the table another`
    default:
      return `table ${table} is ${status}: npm run tables says what becomes of it`
  }
}

function readDescription(answer: Record<string, unknown>): { status: string; schema: string } {
  const table = recordOf(answer.Table)
  const types = new Map(listOf(table.AttributeDefinitions).map((one) => [one.AttributeName, one.AttributeType]))
  const schema = listOf(table.KeySchema).map(({ AttributeName: name, KeyType }) => `${name} ${types.get(name)} ${KeyType}`)
  return { status: String(table.TableStatus), schema: schema.join(', ') }
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
