import { PortError } from '../../ports/error.ts'
import { awsUnavailable, isAwsError } from '../aws/aws.ts'

/** Any failure of a call about a parameter as the port says it, with what an operator can do about it. */
export function ssmFailure(error: unknown, parameter: string): PortError {
  if (!isAwsError(error)) return awsUnavailable(error, `parameter ${parameter}`)
  if (error.type === 'HierarchyLevelLimitExceededException') {
    return new PortError('Unsupported', `parameter ${parameter} has over 15 levels, which SSM does not keep`, { cause: error })
  }
  const said = advice(error.type)
  if (said === null) return awsUnavailable(error, `parameter ${parameter}`)
  return new PortError('Unavailable', `parameter ${parameter} ${said}`, { cause: error })
}

/** What follows "parameter <name>", for the refusals only SSM has (its API reference, PutParameter and GetParameters). */
function advice(type: string): string | null {
  switch (type) {
    case 'ParameterMaxVersionLimitExceeded':
      return 'has 100 versions and a label on the oldest, which SSM therefore may not drop: remove the label (aws ssm unlabel-parameter-version)'
    case 'ParameterLimitExceeded':
      return 'cannot be added: the account holds as many parameters in this region as it may. Delete unused ones, or ask AWS for more'
    case 'InvalidKeyId':
      return 'is encrypted under a key that does not exist, is disabled, or that the credentials may not use'
    case 'HierarchyTypeMismatchException':
      return 'exists and is no SecureString: delete it, then write it again'
    case 'ParameterPatternMismatchException':
      return 'has a name that SSM does not take'
    default:
      return null
  }
}
