import { createHash } from 'node:crypto'
import * as z from 'zod'
import { ACCOUNT, type Call, Refusal } from './call.ts'
import type { Authorize } from './iam.ts'
import { validInput } from './json-protocol.ts'
import type { Kms } from './kms.ts'
import { checkName, DEFAULT_KEY, type Parameter, type ParameterVersion, parameters } from './ssm-parameters.ts'

export interface Ssm {
  call(call: Call, input: Record<string, unknown>): Promise<object>
}

const name = z.string().min(1).max(2048)
const decryption = z.boolean().default(false)
// 10 names a call, 10 parameters a page: what the service's reference gives.
const names = z.array(name).min(1).max(10)

const schemas = {
  get: z.object({ Name: name, WithDecryption: decryption }),
  getMany: z.object({ Names: names, WithDecryption: decryption }),
  byPath: z.object({
    Path: name,
    Recursive: z.boolean().default(false),
    WithDecryption: decryption,
    MaxResults: z.number().int().min(1).max(10).default(10),
    NextToken: z.string().optional(),
  }),
  put: z.object({
    Name: name,
    Value: z.string().min(1),
    Type: z.enum(['String', 'StringList', 'SecureString']).optional(),
    KeyId: z.string().min(1).max(256).optional(),
    Overwrite: z.boolean().default(false),
    Tier: z.enum(['Standard', 'Advanced', 'Intelligent-Tiering']).optional(),
    Tags: z.array(z.object({ Key: z.string(), Value: z.string() })).optional(),
  }),
  delete: z.object({ Name: name }),
  deleteMany: z.object({ Names: names }),
  history: z.object({
    Name: name,
    WithDecryption: decryption,
    MaxResults: z.number().int().min(1).max(50).default(50),
    NextToken: z.string().optional(),
  }),
}

/** Systems Manager's Parameter Store. Its SecureStrings ask KMS for their key, as the caller, through SSM. */
export function ssm(options: { region: string; kms: Kms }): Ssm {
  const store = parameters()
  const arn = (named: string) => `arn:aws:ssm:${options.region}:${ACCOUNT}:parameter${named.startsWith('/') ? '' : '/'}${named}`

  /** A version's value as this caller gets it. The account's default key is for everyone who may read the parameter. */
  function valueFor(parameter: Parameter, version: ParameterVersion, decrypt: boolean, authorize: Authorize): string {
    if (version.type !== 'SecureString') return version.value
    if (!decrypt) return `AQICA${createHash('sha256').update(`${parameter.name} ${version.version}`).digest('base64')}`
    useKey(version.keyId, 'kms:Decrypt', parameter.name, authorize)
    return version.value
  }

  function useKey(keyId: string, action: string, parameter: string, authorize: Authorize): void {
    if (keyId === DEFAULT_KEY) return
    const key = options.kms.find(keyId)
    authorize(action, key.arn, {
      'kms:ViaService': [`ssm.${options.region}.amazonaws.com`],
      'kms:EncryptionContext:PARAMETER_ARN': [arn(parameter)],
    })
    if (!key.enabled) throw new Refusal('InvalidKeyId', `${key.arn} is disabled.`)
  }

  function shown(parameter: Parameter, version: ParameterVersion, decrypt: boolean, authorize: Authorize): object {
    return {
      ARN: arn(parameter.name),
      DataType: 'text',
      LastModifiedDate: version.modified / 1000,
      Name: parameter.name,
      Type: version.type,
      Value: valueFor(parameter, version, decrypt, authorize),
      Version: version.version,
    }
  }

  function get(named: string, decrypt: boolean, authorize: Authorize): object {
    const { parameter, version, selector } = store.select(named)
    const output = shown(parameter, version, decrypt, authorize)
    return selector === null ? output : { ...output, Selector: `:${selector}` }
  }

  function put(input: z.infer<typeof schemas.put>, { authorize, now }: Call): object {
    checkName(input.Name)
    authorize('ssm:PutParameter', arn(input.Name))
    const type = input.Type ?? store.find(input.Name)?.type
    if (type === 'SecureString' && input.KeyId !== undefined) {
      try {
        useKey(input.KeyId, input.Tier === 'Advanced' ? 'kms:GenerateDataKey' : 'kms:Encrypt', input.Name, authorize)
      } catch (error) {
        if (error instanceof Refusal && error.type === 'NotFoundException') throw new Refusal('InvalidKeyId', error.message)
        throw error
      }
    }
    const version = store.put({ name: input.Name, value: input.Value, ...given(input), overwrite: input.Overwrite, now })
    return { Tier: version.tier, Version: version.version }
  }

  async function call(call: Call, input: Record<string, unknown>): Promise<object> {
    const { operation, authorize } = call
    switch (operation) {
      case 'GetParameter': {
        const { Name, WithDecryption } = validInput(schemas.get, input)
        authorize('ssm:GetParameter', arn(nameOf(Name)))
        return { Parameter: get(Name, WithDecryption, authorize) }
      }
      case 'GetParameters': {
        const { Names, WithDecryption } = validInput(schemas.getMany, input)
        if (new Set(Names).size < Names.length) throw new Refusal('ValidationException', 'Names must not repeat')
        // One name that is denied denies the call.
        for (const one of Names) authorize('ssm:GetParameters', arn(nameOf(one)))
        const found = Names.filter((one) => store.has(one))
        return {
          // In another order than asked: the service promises none.
          Parameters: found.toReversed().map((one) => get(one, WithDecryption, authorize)),
          InvalidParameters: Names.filter((one) => !store.has(one)),
        }
      }
      case 'GetParametersByPath': {
        const { Path, Recursive, WithDecryption, MaxResults, NextToken } = validInput(schemas.byPath, input)
        if (!Path.startsWith('/')) throw new Refusal('ValidationException', `The parameter path must begin with a slash: ${Path}`)
        authorize('ssm:GetParametersByPath', arn(Path))
        const page = pageOf(store.below(Path, Recursive), MaxResults, NextToken)
        return { ...page.next, Parameters: page.items.map((one) => shown(one, latest(one), WithDecryption, authorize)) }
      }
      case 'PutParameter':
        return put(validInput(schemas.put, input), call)
      case 'DeleteParameter': {
        const { Name } = validInput(schemas.delete, input)
        authorize('ssm:DeleteParameter', arn(Name))
        if (!store.delete(Name)) throw new Refusal('ParameterNotFound', '')
        return {}
      }
      case 'DeleteParameters': {
        const { Names } = validInput(schemas.deleteMany, input)
        for (const one of Names) authorize('ssm:DeleteParameters', arn(one))
        const DeletedParameters = Names.filter((one) => store.delete(one))
        return { DeletedParameters, InvalidParameters: Names.filter((one) => !DeletedParameters.includes(one)) }
      }
      case 'GetParameterHistory': {
        const { Name, WithDecryption, MaxResults, NextToken } = validInput(schemas.history, input)
        authorize('ssm:GetParameterHistory', arn(Name))
        const parameter = store.find(Name)
        if (parameter === undefined) throw new Refusal('ParameterNotFound', '')
        const page = pageOf(parameter.versions, MaxResults, NextToken)
        return {
          ...page.next,
          Parameters: page.items.map((version) => ({
            DataType: 'text',
            KeyId: version.type === 'SecureString' ? version.keyId : undefined,
            Labels: [],
            LastModifiedDate: version.modified / 1000,
            Name,
            Policies: [],
            Tier: version.tier,
            Type: version.type,
            Value: valueFor(parameter, version, WithDecryption, authorize),
            Version: version.version,
          })),
        }
      }
      default:
        throw new Refusal('UnknownOperationException', operation)
    }
  }

  return { call }
}

function given({ Type, Tier, KeyId, Tags, Overwrite }: z.infer<typeof schemas.put>) {
  if (Tags !== undefined && Overwrite) {
    throw new Refusal('ValidationException', "Invalid request: tags and overwrite can't be used together.")
  }
  return { ...(Type && { type: Type }), ...(Tier && { tier: Tier }), ...(KeyId && { keyId: KeyId }) }
}

/** Without the version that may stand after a colon. */
function nameOf(named: string): string {
  return named.split(':')[0] ?? named
}

function latest(parameter: Parameter): ParameterVersion {
  const version = parameter.versions.at(-1)
  if (version === undefined) throw new TypeError('a parameter has at least one version')
  return version
}

function pageOf<T>(items: readonly T[], size: number, token: string | undefined): { items: readonly T[]; next: { NextToken?: string } } {
  const from = token === undefined ? 0 : Number(Buffer.from(token, 'base64url'))
  if (!Number.isInteger(from) || from < 0 || (token !== undefined && from === 0))
    throw new Refusal('InvalidNextToken', 'The specified token is not valid.')
  const next = from + size < items.length ? { NextToken: Buffer.from(String(from + size)).toString('base64url') } : {}
  return { items: items.slice(from, from + size), next }
}
