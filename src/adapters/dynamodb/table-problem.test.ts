import { describe, expect, it } from 'vitest'
import { PortError } from '../../ports/error.ts'
import { AwsError, type JsonClient } from '../aws/aws.ts'
import { tableProblem } from './table-problem.ts'

const TABLE = {
  TableStatus: 'ACTIVE',
  AttributeDefinitions: [
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'pk', AttributeType: 'S' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
}

function describing(answer: Record<string, unknown> | Error): JsonClient {
  return {
    async call({ operation, input }) {
      expect({ operation, input }).toEqual({ operation: 'DescribeTable', input: { TableName: 'sluis-acme-oidc' } })
      if (answer instanceof Error) throw answer
      return { Table: answer }
    },
  }
}

const refusal = (type: string) => new AwsError(type, 'no', { status: 400, mayHaveLanded: false })

describe('what is the matter with a table', () => {
  it.each(['ACTIVE', 'UPDATING'])('is nothing while it is %s', async (TableStatus) => {
    expect(await tableProblem(describing({ ...TABLE, TableStatus }), 'sluis-acme-oidc')).toBeNull()
  })

  it.each([
    ['being created', { ...TABLE, TableStatus: 'CREATING' }, 'is being created: wait'],
    ['deleted', { ...TABLE, TableStatus: 'DELETING' }, 'is DELETING: npm run tables'],
    ['without its key', { ...TABLE, TableStatus: 'INACCESSIBLE_ENCRYPTION_CREDENTIALS' }, 'enable the key'],
    ['without a sort key', { ...TABLE, KeySchema: TABLE.KeySchema.slice(0, 1) }, 'is keyed by pk S HASH, not by pk S HASH, sk S RANGE'],
    [
      'keyed by numbers',
      { ...TABLE, AttributeDefinitions: TABLE.AttributeDefinitions.map((one) => ({ ...one, AttributeType: 'N' })) },
      'is keyed by pk N HASH, sk N RANGE',
    ],
    ['missing', refusal('ResourceNotFoundException'), 'does not exist in this region: npm run tables creates it'],
    ['forbidden', refusal('AccessDeniedException'), 'no permission for table sluis-acme-oidc: npm run iam'],
    ['not to be asked', new PortError('Unavailable', 'no answer in 5 s'), 'no answer in 5 s'],
  ])('is said in a sentence when it is %s', async (_, answer, said) => {
    expect(await tableProblem(describing(answer), 'sluis-acme-oidc')).toContain(said)
  })
})
