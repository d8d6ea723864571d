import { resolve } from 'node:path'
import { declared } from '../../src/config/policy.ts'
import { type Path, type Problem, shapeProblems } from '../../src/config/problems.ts'
import { personId } from '../../src/ports/keys.ts'
import { CommandError } from '../aws/command.ts'
import { type Parsed, parseYaml } from '../documents.ts'
import { type Expectation, expectationsSchema } from './expectation.ts'
import { type PolicyDocuments, readText } from './read-policy.ts'
import { type Standing, standingOf } from './standing.ts'
import { unmet } from './unmet.ts'

/**
 * Holds the policy to a file of expectations.
 *
 * @returns how many there were
 * @throws CommandError a line for each that is not met, with what was expected and what is; or, before any is tried, for each that names
 * something the documents do not have
 */
export async function checkExpectations(file: string, documents: PolicyDocuments): Promise<string> {
  const read = await readText(resolve(file))
  const parsed = parseYaml(read)
  if (parsed.errors.length > 0) throw new CommandError(parsed.errors.join('\n'))
  fail(parsed, shapeProblems(expectationsSchema, parsed.value))
  const expectations = expectationsSchema.parse(parsed.value)
  const standings = await Promise.all(expectations.map(({ person, groups }) => standingOf(personId(person), groups, documents)))
  const each = (problemsOf: (one: Expectation, standing: Standing, path: Path) => Problem[]) =>
    standings.flatMap((standing, at) => {
      const one = expectations[at]
      return one === undefined ? [] : problemsOf(one, standing, [at])
    })

  fail(
    parsed,
    each((one, standing, path) => strangers(one, standing, path, documents)),
  )
  fail(
    parsed,
    each((one, standing, path) => unmet(one, standing, path, documents.policy)),
  )
  const count = expectations.reduce((sum, one) => sum + countOf(one), 0)
  return `${read.name}: ${count} expectations of ${expectations.length} people are met`
}

function fail({ line, lineOf }: Parsed, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  throw new CommandError(
    problems
      .toSorted((a, b) => lineOf(a.path) - lineOf(b.path))
      .map(line)
      .join('\n'),
  )
}

/** A name that is nowhere would be held by nobody, and refused by everybody, whatever the policy says. */
function strangers(one: Expectation, { directory }: Standing, path: Path, { policy, service, serviceName }: PolicyDocuments): Problem[] {
  const isAudience = (name: string) => declared(policy.clients, name) !== undefined || declared(policy.resources, name) !== undefined
  const isGroup = (name: string) => declared(policy.groups, name) !== undefined
  const unknown = (key: 'holds' | 'not_holds' | 'admitted' | 'refused', isKnown: (name: string) => boolean, words: string) =>
    (one[key] ?? []).flatMap((name, at) =>
      isKnown(name) ? [] : [{ path: [...path, key, at], message: `${JSON.stringify(name)} is no ${words} of the policy` }],
    )
  return [
    ...(countOf(one) === 0 ? [{ path, message: 'expects nothing: holds, not_holds, admitted, refused or token_groups' }] : []),
    ...(one.groups !== undefined && !one.person.includes('@')
      ? [{ path: [...path, 'groups'], message: `is not for ${one.person}: an account is in no directory` }]
      : []),
    ...nowhere(one.person, directory, [...path, 'person'], service.directory.kind === 'local' ? serviceName : null),
    ...(['holds', 'not_holds'] as const).flatMap((key) => unknown(key, isGroup, 'group')),
    ...(['admitted', 'refused'] as const).flatMap((key) => unknown(key, isAudience, 'client and no resource')),
    ...Object.keys(one.token_groups ?? {}).flatMap((name) =>
      isAudience(name)
        ? []
        : [{ path: [...path, 'token_groups', name], message: `${JSON.stringify(name)} is no client and no resource of the policy` }],
    ),
  ]
}

function nowhere(person: string, directory: Standing['directory'], path: Path, service: string | null): Problem[] {
  if (directory.state === 'live' || directory.reason === 'suspended') return []
  if (!person.includes('@')) return [{ path, message: 'is an account that the service document does not have' }]
  const where = service === null ? 'is in a directory that is not asked here' : `is not in the directory of ${service}`
  return [{ path, message: `${where}: say its directory groups, as groups: [...]` }]
}

function countOf({ holds = [], not_holds = [], admitted = [], refused = [], token_groups = {} }: Expectation): number {
  return [holds, not_holds, admitted, refused, Object.keys(token_groups)].reduce((sum, list) => sum + list.length, 0)
}
