import { type Policy, policySchema } from '../../src/config/policy.ts'
import { type Service, serviceSchema } from '../../src/config/service.ts'
import { CLIENT, REDIRECT_URI } from './authorization.ts'

export interface Documents {
  service: Service
  policy: Policy
}

/** As many as there are connections at most, so that each refreshes the session of a person of its own, and the sixteen shards share them. */
export const people = Array.from({ length: 32 }, (_, at) => `person-${at}@acme.example`)

const TEAM = 'team@acme.example'

/** One public client that everybody may use, on this computer. All else is what the schemas say when nothing is written. */
export const documents: Documents = {
  service: serviceSchema.parse({
    version: 1,
    instance: 'bench',
    issuer: 'http://127.0.0.1',
    name: 'Bench',
    directory: { kind: 'local', people: people.map((email) => ({ email, given_name: 'Ada', family_name: 'Lovelace', groups: [TEAM] })) },
    signin: { picker: true },
  }),
  policy: policySchema.parse({
    version: 1,
    groups: { 'app:bench:user': { members: [TEAM] } },
    clients: { [CLIENT]: { kind: 'public', redirects: [REDIRECT_URI], requires: ['app:bench:user'] } },
  }),
}
