import { type Client, declared, type Resource } from '../../src/config/policy.ts'
import { audienceOf } from '../../src/policy/admission.ts'
import { reasonsOf } from '../../src/policy/reasons.ts'
import { CommandError } from '../aws/command.ts'
import type { PolicyDocuments } from './read-policy.ts'
import { checkPerson, opening, type Standing, standingOf, type Terms, termsOf } from './standing.ts'
import { inWords, wayOf, waysTo } from './ways.ts'

/** Whom and what is asked about. */
export interface Question {
  person: string
  client: string | undefined
  /** The directory groups the person is in; undefined: as the local directory has them. */
  groups: readonly string[] | undefined
}

/**
 * What a person would get, and why, in lines for people.
 *
 * @throws CommandError there is no such client, it is nobody's name, or where they are in is not known here
 */
export async function explain(question: Question, documents: PolicyDocuments): Promise<string> {
  const { policy } = documents
  const person = checkPerson(question.person)
  if (question.client !== undefined && declared(policy.clients, question.client) === undefined) {
    throw new CommandError(`the policy has no client ${question.client}. It has: ${Object.keys(policy.clients).join(', ') || 'none'}`)
  }
  if (!person.includes('@') && question.groups !== undefined) throw new CommandError(`--groups: ${person} is an account, in no directory`)
  const standing = await standingOf(person, question.groups, documents)
  if (standing.directory.state === 'refused') return refused(standing, standing.directory.reason, documents)
  return [
    ...whoTheyAre(standing, question, documents),
    '',
    ...whatTheyHold(standing, documents),
    ...(question.client === undefined ? everywhere(standing, documents) : atOne(question.client, standing, documents)),
  ].join('\n')
}

function refused({ person }: Standing, reason: string, { service, serviceName }: PolicyDocuments): string {
  if (reason === 'suspended')
    return `${person} is suspended in the directory: nothing is granted, and what they had ends at its next refresh`
  if (!person.includes('@')) return `${serviceName} has no account ${person}: nobody signs in as it`
  const where =
    service.directory.kind === 'local' ? `is not in the directory of ${serviceName}` : 'is in a directory that is not asked here'
  throw new CommandError(`${person} ${where}. --groups a@x,b@x says which directory groups they are in, --groups '' that they are in none`)
}

function whoTheyAre({ person, directory }: Standing, { groups }: Question, { serviceName }: PolicyDocuments): string[] {
  if (!person.includes('@')) return [person, '  an account with a password, in no directory']
  const names = directory.state === 'live' ? directory.groups : []
  const source = groups === undefined ? `the directory of ${serviceName}` : '--groups'
  return [person, `  is in ${names.join(', ') || 'no directory group'} (${source})`]
}

function whatTheyHold({ person, directory, held }: Standing, { policy, written }: PolicyDocuments): string[] {
  if (held.length === 0) return ['holds no group']
  const reasons = reasonsOf(written, person, directory.state === 'live' ? directory.groups : [])
  const width = Math.max(...held.map((name) => name.length))
  const operators = held.filter((name) => policy.console?.operators.includes(name))
  return [
    'holds',
    ...held.map(
      (name) =>
        `  ${name.padEnd(width)}  ${reasons
          .filter(({ group }) => group === name)
          .map(wayOf)
          .join('; ')}`,
    ),
    ...(operators.length === 0 ? [] : ['', `is an operator of the console by ${operators.join(', ')}`]),
  ]
}

/** Every client, and every resource by itself: who names one must be let in by both. */
function everywhere(standing: Standing, documents: PolicyDocuments): string[] {
  const { clients, resources } = documents.policy
  return [
    ...Object.keys(clients).flatMap((id) => atClient(id, standing, documents)),
    ...Object.entries(resources).flatMap(([uri, row]) => {
      const lines = entrance(`resource ${uri}`, row, standing, documents)
      return [
        '',
        ...lines,
        ...(opening(row, standing.held).length === 0 ? [] : ['  for a token: npm run policy -- explain <person> <client>']),
      ]
    }),
  ]
}

/** A client, and what it can ask for each resource. */
function atOne(id: string, standing: Standing, documents: PolicyDocuments): string[] {
  const { policy } = documents
  const resources = Object.entries(policy.resources).flatMap(([uri, row]) => {
    const audience = audienceOf(policy, id, uri)
    if (audience === null) return []
    const terms = termsOf(audience, standing.held, policy)
    const lines = entrance(`resource ${uri}, by ${id}`, row, standing, documents)
    if (terms.admitted) return ['', ...lines, ...inTerms(terms)]
    return ['', ...lines, ...(opening(row, standing.held).length === 0 ? [] : [`  no token all the same: ${id} does not let them in`])]
  })
  return [...atClient(id, standing, documents), ...resources]
}

function atClient(id: string, standing: Standing, documents: PolicyDocuments): string[] {
  const audience = audienceOf(documents.policy, id, undefined)
  if (audience === null) return []
  const terms = termsOf(audience, standing.held, documents.policy)
  return ['', ...entrance(`client ${id}`, audience.client, standing, documents), ...(terms.admitted ? inTerms(terms) : [])]
}

function entrance(name: string, row: Client | Resource, { held }: Standing, { written }: PolicyDocuments): string[] {
  const open = opening(row, held)
  if (open.length > 0) return [`${name} lets them in, by ${open.join(', ')}`]
  return [
    `${name} does not let them in. It requires one of`,
    ...row.requires.map((group) => `  ${group}, which is held by ${waysTo(group, written).join('; ') || 'nobody'}`),
  ]
}

function inTerms({ accessToken, idToken, absolute, groups, unscoped }: Terms): string[] {
  const fewer = unscoped === 0 ? '' : ` (${unscoped} of them no more when groups_scoping is enforce)`
  return [
    `  access token ${inWords(accessToken)}, ID token ${inWords(idToken)}, signed in for ${inWords(absolute)} at most`,
    `  groups: ${groups.join(', ') || 'none'}${fewer}`,
  ]
}
