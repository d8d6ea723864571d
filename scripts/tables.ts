import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { modules, tableName } from '../src/ports/layout5.ts'
import { checkEndpoint, checkRegion, type Flags, instanceOf, readFlags, runAsProcess, someOf, textOf } from './aws/command.ts'
import { provisionTables } from './aws/provision.ts'

const USAGE = `npm run tables -- --instance acme [options]
Makes the DynamoDB tables of an instance, sluis-<instance>-<module>, or completes those that stand: on demand, with time to live,
point-in-time recovery and protection against deletion. Safe to repeat. Credentials are found as the AWS tools find them (AWS_PROFILE,
AWS_ACCESS_KEY_ID, ...).
  --instance NAME    INSTANCE in the environment
  --modules NAME,... only these of ${modules.join(', ')}
  --region REGION    AWS_REGION in the environment
  --endpoint URL     instead of Amazon's own (AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL)
  --dry-run          look, and say what would be done`

const FLAGS: Flags = {
  instance: { type: 'string' },
  modules: { type: 'string' },
  region: { type: 'string' },
  endpoint: { type: 'string' },
  'dry-run': { type: 'boolean' },
}

/** The command, less the process. @throws CommandError */
export async function tables(args: readonly string[], environment: NodeJS.ProcessEnv, say: (line: string) => void): Promise<void> {
  const flags = readFlags(args, FLAGS, USAGE)
  const instance = instanceOf(flags, environment)
  const region = textOf(flags, 'region') ?? environment.AWS_REGION
  const endpoint = textOf(flags, 'endpoint') ?? environment.AWS_ENDPOINT_URL_DYNAMODB ?? environment.AWS_ENDPOINT_URL
  const names = someOf(modules, flags, 'modules').map((module) => tableName(instance, module))
  const client = new DynamoDBClient({
    ...(region === undefined ? {} : { region: checkRegion(region) }), // else a profile may have one
    ...(endpoint === undefined ? {} : { endpoint: checkEndpoint(endpoint) }),
  })
  try {
    await provisionTables({ client, tables: names, dryRun: flags.has('dry-run'), say })
  } finally {
    client.destroy()
  }
}

if (import.meta.main) await runAsProcess(() => tables(process.argv.slice(2), process.env, console.log))
