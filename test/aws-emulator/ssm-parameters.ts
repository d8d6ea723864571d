import { Refusal } from './call.ts'

export const DEFAULT_KEY = 'alias/aws/ssm'

type Type = 'String' | 'StringList' | 'SecureString'
type Tier = 'Standard' | 'Advanced'

export interface ParameterVersion {
  version: number
  type: Type
  value: string
  tier: Tier
  keyId: string
  /** unix ms */
  modified: number
}

export interface Parameter {
  name: string
  type: Type
  tier: Tier
  /** Oldest first; never empty. */
  versions: ParameterVersion[]
}

export interface NewVersion {
  name: string
  value: string
  type?: Type
  tier?: Tier | 'Intelligent-Tiering'
  keyId?: string
  overwrite: boolean
  /** unix ms */
  now: number
}

/** What the service's reference gives: a value's bytes by tier, versions kept, the length of a name with its ARN, levels of a path. */
const LIMITS = { Standard: 4096, Advanced: 8192, versions: 100, name: 1011, levels: 15 }

export function parameters() {
  const kept = new Map<string, Parameter>()

  function put(wanted: NewVersion): ParameterVersion {
    const existing = kept.get(wanted.name)
    if (existing !== undefined && !wanted.overwrite) {
      const message = 'The parameter already exists. To overwrite this value, set the overwrite option in the request to true.'
      throw new Refusal('ParameterAlreadyExists', message)
    }
    const type = wanted.type ?? existing?.type
    if (type === undefined) throw invalid('A parameter type is required when you create a parameter.')
    if (existing !== undefined && existing.type !== type) {
      const message = `The type of a parameter can't be changed: ${existing.type} to ${type}`
      throw new Refusal('HierarchyTypeMismatchException', message)
    }
    if (wanted.keyId !== undefined && type !== 'SecureString') throw invalid('KeyId is only for parameters of type SecureString.')
    const version: ParameterVersion = {
      version: (existing?.versions.at(-1)?.version ?? 0) + 1,
      type,
      value: wanted.value,
      tier: tierOf(wanted, existing),
      keyId: wanted.keyId ?? DEFAULT_KEY,
      modified: wanted.now,
    }
    const versions = [...(existing?.versions ?? []), version].slice(-LIMITS.versions)
    kept.set(wanted.name, { name: wanted.name, type, tier: version.tier, versions })
    return version
  }

  /** A parameter's version by `name`, or `name:version`. @throws Refusal ParameterNotFound, ParameterVersionNotFound */
  function select(named: string): { parameter: Parameter; version: ParameterVersion; selector: string | null } {
    const [name = '', selector = null] = named.split(':')
    const parameter = kept.get(name)
    if (parameter === undefined) throw new Refusal('ParameterNotFound', '')
    const version =
      selector === null ? parameter.versions.at(-1) : parameter.versions.find((candidate) => String(candidate.version) === selector)
    if (version !== undefined) return { parameter, version, selector }
    throw new Refusal(
      'ParameterVersionNotFound',
      `Systems Manager could not find version ${selector} of ${name}. Verify the version and try again.`,
    )
  }

  return {
    put,
    select,
    find: (name: string) => kept.get(name),
    has(named: string): boolean {
      const [name = '', selector] = named.split(':')
      const parameter = kept.get(name)
      return parameter !== undefined && (selector === undefined || parameter.versions.some(({ version }) => String(version) === selector))
    },
    delete: (name: string) => kept.delete(name),
    /** In order of name. Not recursive: one level below the path. */
    below(path: string, recursive: boolean): Parameter[] {
      const prefix = path.endsWith('/') ? path : `${path}/`
      return [...kept.values()]
        .filter(({ name }) => name.startsWith(prefix) && (recursive || !name.slice(prefix.length).includes('/')))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    },
  }
}

/** Once advanced, always advanced; intelligent tiering takes the smallest that fits. */
function tierOf(wanted: NewVersion, existing: Parameter | undefined): Tier {
  const size = Buffer.byteLength(wanted.value)
  if (existing?.tier === 'Advanced' && wanted.tier === 'Standard') {
    throw invalid("This parameter uses the advanced-parameter tier. You can't downgrade a parameter from the advanced-parameter tier.")
  }
  const fitting = wanted.tier === 'Intelligent-Tiering' && size > LIMITS.Standard ? 'Advanced' : 'Standard'
  const tier = existing?.tier === 'Advanced' || wanted.tier === 'Advanced' ? 'Advanced' : fitting
  if (size <= LIMITS[tier]) return tier
  throw invalid(`${tier} tier parameters support a maximum parameter value of ${LIMITS[tier]} characters.`)
}

/** The rules for a new parameter's name (PutParameter, "Name"). */
export function checkName(name: string): void {
  const problems: [boolean, string][] = [
    [!/^[a-zA-Z0-9_.\-/]+$/.test(name), 'Parameter name: can only contain letters, numbers and the symbols . - _ and /.'],
    [name.includes('/') && !name.startsWith('/'), 'Parameter name must be a fully qualified name: a path begins with a slash.'],
    [name.endsWith('/') || name.includes('//'), 'Parameter name must not end with a slash or hold an empty level.'],
    [/^\/?(?:aws|ssm)/i.test(name), 'Parameter name: can\'t be prefixed with "aws" or "ssm" (case-insensitive).'],
    [name.split('/').length - 1 > LIMITS.levels, `A parameter can have a maximum of ${LIMITS.levels} levels.`],
    [name.length > LIMITS.name, `Parameter name must not be longer than ${LIMITS.name} characters.`],
  ]
  const problem = problems.find(([found]) => found)
  if (problem !== undefined) throw invalid(problem[1])
}

function invalid(message: string): Refusal {
  return new Refusal('ValidationException', message)
}
