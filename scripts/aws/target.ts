import type { Documents } from '../../src/config/documents.ts'
import { CommandError, checkRegion } from './command.ts'

/** The options by which a command says that AWS itself is asked, and where. */
export const awsOptions = {
  aws: { type: 'boolean', default: false },
  region: { type: 'string' },
} as const

/** How they are described, as the last lines of a usage. */
export const AWS_USAGE = `  --aws            whatever the preset
  --region REGION  AWS_REGION in the environment, else that of config/service.yaml`

/** Whether AWS is asked, and not a running issuer. */
export function isForAws({ aws }: { aws: boolean }, { service }: Documents): boolean {
  return aws || (process.env.PRESET ?? service.preset) === 'aws'
}

/** Which instance is meant, and in which region. @throws CommandError nothing says a region, or it is none */
export function awsTarget(
  { region: asked }: { region?: string | undefined },
  { service }: Documents,
): { instance: string; region: string } {
  const region = asked ?? process.env.AWS_REGION ?? service.aws.region
  if (region === undefined) throw new CommandError('in which region? --region eu-west-1, AWS_REGION, or aws.region in config/service.yaml')
  return { instance: process.env.INSTANCE ?? service.instance, region: checkRegion(region) }
}
