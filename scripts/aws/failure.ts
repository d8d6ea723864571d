import { CommandError } from './command.ts'

/**
 * What an AWS call of a command failed with, as its user can act on it: which permission, which variable, which flag. Says nothing of
 * what was sent. An error that is none of AWS's comes back as it is.
 *
 * @param doing such as `CreateTable of sluis-acme-oidc`
 */
export function awsFailure(error: unknown, doing: string): unknown {
  if (error instanceof CommandError || !(error instanceof Error)) return error
  const said = adviceOn(error, doing)
  return said === null ? error : new CommandError(said, { cause: error })
}

function adviceOn(error: Error, doing: string): string | null {
  switch (error.name) {
    case 'CredentialsProviderError':
      return 'there are no AWS credentials: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment'
    case 'AccessDeniedException':
      return `${doing}: these credentials have no permission for it`
    case 'UnrecognizedClientException':
    case 'InvalidClientTokenId':
    case 'ExpiredTokenException':
      return `${doing}: the access key is not known, or has expired`
    case 'InvalidSignatureException':
      return `${doing}: the secret access key does not belong to the access key, or this computer's clock is off`
    case 'LimitExceededException':
      return `${doing}: the account makes as many changes as it may at once. Run it again in a minute`
  }
  if (error.message === 'Region is missing') return 'in which region? --region eu-west-1, or AWS_REGION in the environment'
  // First of these: the SDK marks what never reached AWS as one of AWS's answers too.
  if (isOfNetwork(error)) return `${doing}: AWS could not be reached. Is the region right, and the endpoint?`
  return isOfAws(error) ? `${doing}: ${error.name}: ${error.message}` : null
}

function isOfAws(error: Error): boolean {
  return '$fault' in error || '$metadata' in error
}

function isOfNetwork(error: Error): boolean {
  const codes = ['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT', 'EAI_AGAIN', 'EPIPE']
  return error.name === 'TimeoutError' || ('code' in error && codes.includes(String(error.code)))
}
