import * as z from 'zod'
import { Refusal } from './call.ts'
import type { Engine } from './dynamodb-engine.ts'
import { invalid } from './dynamodb-keys.ts'
import { validInput } from './json-protocol.ts'

const tableNamed = z.object({ TableName: z.string().regex(/^[a-zA-Z0-9_.-]{3,255}$/) })

const updateTimeToLive = tableNamed.extend({
  TimeToLiveSpecification: z.object({ AttributeName: z.string().min(1).max(255), Enabled: z.boolean() }),
})

const updateContinuousBackups = tableNamed.extend({
  PointInTimeRecoverySpecification: z.object({
    PointInTimeRecoveryEnabled: z.boolean(),
    RecoveryPeriodInDays: z.number().int().min(1).max(35).optional(),
  }),
})

interface Settings {
  ttlAttribute: string | null
  /** unix ms since when; null: off */
  recoveryFrom: number | null
  recoveryDays: number
  protected: boolean
}

const operations = ['UpdateTimeToLive', 'DescribeTimeToLive', 'UpdateContinuousBackups', 'DescribeContinuousBackups'] as const
type Operation = (typeof operations)[number]

/** What a table has beside its schema, which dynalite does not keep. Nothing is deleted by its time to live: DynamoDB may be days late too. */
export function tableSettings(engine: Engine) {
  const kept = new Map<string, { table: string; settings: Settings }>()

  async function of(name: string): Promise<Settings> {
    const table = (await engine.table(name)) as { TableId?: string } | null
    if (table === null) {
      const message = `Requested resource not found: Table: ${name} not found`
      throw new Refusal('com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', message)
    }
    const id = table.TableId ?? name // a table made again under the same name begins anew
    const found = kept.get(name)
    if (found?.table === id) return found.settings
    const settings: Settings = { ttlAttribute: null, recoveryFrom: null, recoveryDays: 35, protected: false }
    kept.set(name, { table: id, settings })
    return settings
  }

  async function run(operation: Operation, input: Record<string, unknown>, now: number): Promise<object> {
    switch (operation) {
      case 'UpdateTimeToLive': {
        const { TableName, TimeToLiveSpecification: wanted } = valid(updateTimeToLive, input)
        const settings = await of(TableName)
        if (wanted.Enabled === (settings.ttlAttribute !== null)) {
          throw invalid(`TimeToLive is already ${wanted.Enabled ? 'enabled' : 'disabled'}`)
        }
        if (!wanted.Enabled && wanted.AttributeName !== settings.ttlAttribute) {
          throw invalid('TimeToLive is active on a different AttributeName')
        }
        settings.ttlAttribute = wanted.Enabled ? wanted.AttributeName : null
        return { TimeToLiveSpecification: wanted }
      }
      case 'DescribeTimeToLive': {
        const { ttlAttribute } = await of(valid(tableNamed, input).TableName)
        return {
          TimeToLiveDescription:
            ttlAttribute === null ? { TimeToLiveStatus: 'DISABLED' } : { TimeToLiveStatus: 'ENABLED', AttributeName: ttlAttribute },
        }
      }
      case 'UpdateContinuousBackups': {
        const { TableName, PointInTimeRecoverySpecification: wanted } = valid(updateContinuousBackups, input)
        const settings = await of(TableName)
        settings.recoveryFrom = wanted.PointInTimeRecoveryEnabled ? (settings.recoveryFrom ?? now) : null
        settings.recoveryDays = wanted.RecoveryPeriodInDays ?? settings.recoveryDays
        return continuousBackups(settings, now)
      }
      case 'DescribeContinuousBackups':
        return continuousBackups(await of(valid(tableNamed, input).TableName), now)
    }
  }

  return {
    knows: (operation: string): operation is Operation => operations.some((name) => name === operation),
    run,
    /** CreateTable's answer, once what dynalite drops of its input has been kept. */
    async created(output: Record<string, unknown>, input: Record<string, unknown>): Promise<object> {
      const description = output.TableDescription as { TableArn: string; TableName: string }
      if (Array.isArray(input.Tags) && input.Tags.length > 0) {
        await engine.run('TagResource', engine.validate('TagResource', { ResourceArn: description.TableArn, Tags: input.Tags }))
      }
      const settings = await of(description.TableName)
      settings.protected = input.DeletionProtectionEnabled === true
      return { TableDescription: { ...description, DeletionProtectionEnabled: settings.protected } }
    },
    /** UpdateTable that asks for deletion protection and nothing else; null when it asks for something else. */
    async protect(name: string, input: Record<string, unknown>): Promise<object | null> {
      if (typeof input.DeletionProtectionEnabled !== 'boolean' || Object.keys(input).length !== 2) return null
      const settings = await of(name)
      settings.protected = input.DeletionProtectionEnabled
      return { TableDescription: { ...(await engine.table(name)), DeletionProtectionEnabled: settings.protected } }
    },
    /** @throws Refusal the table is protected */
    async checkDeletable(name: string): Promise<void> {
      if ((await of(name)).protected) throw invalid(`Resource cannot be deleted as it is currently protected against deletion: ${name}`)
    },
    /** DescribeTable's answer, with what dynalite does not keep. */
    async described(name: string, output: Record<string, unknown>): Promise<object> {
      const { protected: DeletionProtectionEnabled } = await of(name)
      return { Table: { ...(output.Table as object), DeletionProtectionEnabled } }
    },
  }
}

function continuousBackups({ recoveryFrom, recoveryDays }: Settings, now: number): object {
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription:
        recoveryFrom === null
          ? { PointInTimeRecoveryStatus: 'DISABLED' }
          : {
              PointInTimeRecoveryStatus: 'ENABLED',
              RecoveryPeriodInDays: recoveryDays,
              EarliestRestorableDateTime: recoveryFrom / 1000,
              LatestRestorableDateTime: now / 1000,
            },
    },
  }
}

function valid<Schema extends z.ZodType>(schema: Schema, input: Record<string, unknown>): z.infer<Schema> {
  try {
    return validInput(schema, input)
  } catch (error) {
    throw error instanceof Refusal ? invalid(error.message) : error
  }
}
