import { parseArgs } from 'node:util'
import { modules, tableName } from '../../src/ports/layout5.ts'
import { startAwsEmulator } from './emulator.ts'

const USAGE = `AWS on this machine, for one instance, in memory: DynamoDB, SSM, KMS and S3 until it is stopped.

  node test/aws-emulator/main.ts [--port <port>] [--instance <name>] [--region <region>]

It makes the tables of every module, the bucket sluis-<instance> and the key alias/sluis-<instance>, and prints what a client needs.
`

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4566' }, // where people look for AWS on their own machine
    instance: { type: 'string', default: 'acme' },
    region: { type: 'string', default: 'eu-west-1' },
    help: { type: 'boolean', short: 'h' },
  },
})

if (values.help) {
  process.stdout.write(USAGE)
} else {
  const emulator = await startAwsEmulator({
    port: Number(values.port),
    region: values.region,
    tables: modules.map((module) => tableName(values.instance, module)),
    buckets: [`sluis-${values.instance}`],
    keyAliases: [`alias/sluis-${values.instance}`],
  })
  const [credential] = emulator.credentials
  process.stdout.write(`export AWS_ENDPOINT_URL=${emulator.url}
export AWS_REGION=${emulator.region}
export AWS_ACCESS_KEY_ID=${credential.accessKeyId}
export AWS_SECRET_ACCESS_KEY=${credential.secretAccessKey}
`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => emulator.stop())
}
