import { describe, expect, it } from 'vitest'
import { PortError } from '../../ports/error.ts'
import { AwsError, awsUnavailable, isAwsError } from './aws.ts'

const refused = (type: string) => new AwsError(type, 'no', { status: 400, mayHaveLanded: false })

describe('awsUnavailable', () => {
  it('says what an operator can do, and keeps the refusal as its cause', () => {
    for (const [type, advice] of [
      ['ResourceNotFoundException', 'table t does not exist in this region: npm run tables creates it'],
      ['AccessDeniedException', 'the credentials have no permission for table t: npm run iam prints what they need'],
      ['UnrecognizedClientException', 'the access key is not known, or has expired (asked for table t)'],
      ['InvalidSignatureException', 'the secret access key does not belong to the access key, or the clock is off (asked for table t)'],
      ['RequestTimeTooSkewed', 'the clock is off (asked for table t)'],
      ['PermanentRedirect', 'table t is in another region, or its endpoint is another'],
      ['ValidationException', 'table t answered ValidationException'],
    ] as const) {
      const cause = refused(type)
      expect(awsUnavailable(cause, 'table t')).toMatchObject({ code: 'Unavailable', message: advice, cause })
    }
  })

  it('lets a PortError pass, and says nothing of what else was thrown', () => {
    const passed = new PortError('TooLarge', 'x')
    expect(awsUnavailable(passed, 'table t')).toBe(passed)
    expect(awsUnavailable(new Error('10.0.0.1 refused'), 'table t').message).toBe('table t could not be asked')
  })
})

describe('isAwsError', () => {
  it('is true for a refusal of one of the types, or of any when none is named', () => {
    expect(isAwsError(refused('A'), 'B', 'A')).toBe(true)
    expect(isAwsError(refused('A'), 'B')).toBe(false)
    expect(isAwsError(refused('A'))).toBe(true)
    expect(isAwsError(new PortError('Unavailable', 'A'), 'A')).toBe(false)
  })
})
