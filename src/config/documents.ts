import { type Policy, policySchema, writtenPolicySchema } from './policy.ts'
import { policyProblems } from './policy-problems.ts'
import { policyWarnings } from './policy-warnings.ts'
import { field, type Problem, part } from './problems.ts'
import { ringsOf, type Service, serviceProblems, serviceSchema } from './service.ts'
import { issuerOrigin } from './values.ts'

export interface Documents {
  service: Service
  policy: Policy
}

/** The two documents as what they mean, or everything that is wrong with either. */
export type Reading =
  | { ok: true; documents: Documents; warnings: { policy: Problem[] } }
  | { ok: false; problems: { service: Problem[]; policy: Problem[] } }

/** Reads both documents as they were written (YAML or JSON already taken apart), each held to its own rules and to the other. */
export function readDocuments(written: { service: unknown; policy: unknown }): Reading {
  const facts = { rings: ringsOf(written.service), issuer: part(issuerOrigin, field(written.service, 'issuer')) }
  const problems = { service: serviceProblems(written.service), policy: policyProblems(written.policy, facts) }
  if (problems.service.length > 0 || problems.policy.length > 0) return { ok: false, problems }
  const documents = { service: serviceSchema.parse(written.service), policy: policySchema.parse(written.policy) }
  return { ok: true, documents, warnings: { policy: policyWarnings(writtenPolicySchema.parse(written.policy), documents.service) } }
}
