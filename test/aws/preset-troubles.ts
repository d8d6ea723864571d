import { freePort } from '../../scripts/bench/free-port.ts'
import type { Documents } from '../../src/config/documents.ts'
import { secretAddress } from '../../src/ports/keys.ts'
import type { IamStatement } from '../aws-emulator/iam.ts'
import { type Account, type Isolate, spoil, startIsolate } from './preset-arrange.ts'

/** Something that is wrong with an account, or with what the Worker is told of it. */
export interface Trouble {
  what: string
  /** Brings it about. Answers what mends it. */
  begin?: (account: Account) => Promise<() => unknown> | (() => unknown)
  /** What this isolate is told beside what the others are. */
  variables?: () => Record<string, string> | Promise<Record<string, string>>
  edit?: (documents: Documents) => void
  /** Of the checks of /readyz, the ones that fail, and what each says. */
  says: Record<string, string | RegExp>
}

export const TABLE = 'table sluis-dev-oidc'
const KEY = 'key alias/sluis-dev'
const NOT_FOUND = `unavailable: ${TABLE} does not exist in this region: npm run tables creates it`
const UNKNOWN = 'the access key is not known, or has expired'
const MISMATCH = 'the secret access key does not belong to the access key, or the clock is off'
const DENIED = (resource: string) => `unavailable: the credentials have no permission for ${resource}: npm run iam prints what they need`
const STATE_SECRET = 'parameter /sluis/dev/internal/oidc/state-secret'

/** Of the table, or of everything: no flow can go on. */
export const records: Trouble[] = [
  {
    what: 'the table does not exist',
    begin({ emulator }) {
      const fault = { type: 'ResourceNotFoundException', status: 400 }
      emulator.faults.set({ next: [{ service: 'dynamodb', fault, times: 1_000 }] })
      return () => emulator.faults.clear()
    },
    says: { store: NOT_FOUND, [TABLE]: NOT_FOUND },
  },
  {
    what: 'the access key is nobody’s',
    variables: () => ({ AWS_OIDC_ACCESS_KEY_ID: 'AKIANOBODY' }),
    says: { store: `unavailable: ${UNKNOWN} (asked for ${TABLE})`, state_secret: `unavailable: ${UNKNOWN} (asked for ${STATE_SECRET})` },
  },
  {
    what: 'the secret is of another access key',
    variables: () => ({ AWS_OIDC_SECRET_ACCESS_KEY: 'another' }),
    says: { store: `unavailable: ${MISMATCH} (asked for ${TABLE})`, state_secret: `unavailable: ${MISMATCH} (asked for ${STATE_SECRET})` },
  },
  {
    what: 'the policy lacks the table',
    begin: (of) => withoutPermission(of, 'dynamodb:'),
    says: { store: DENIED(TABLE), [TABLE]: DENIED(TABLE) },
  },
  {
    what: 'nobody listens at the endpoint',
    variables: async () => ({ AWS_ENDPOINT_URL: `http://127.0.0.1:${await freePort()}` }),
    says: { store: 'could not be reached', [TABLE]: 'could not be reached', state_secret: 'could not be reached' },
  },
]

/** Of what signs: tokens can't be issued. */
export const sealing: Trouble[] = [
  { what: 'the policy lacks the key', begin: (of) => withoutPermission(of, 'kms:'), says: { signing_keys: DENIED(KEY) } },
  {
    what: 'the key is disabled',
    async begin({ operator, key }) {
      await operator.call('kms', 'DisableKey', { KeyId: key })
      return () => operator.call('kms', 'EnableKey', { KeyId: key })
    },
    says: { signing_keys: `unavailable: ${KEY} is disabled or waits to be deleted: enable it again` },
  },
  {
    what: 'the key does not exist',
    edit: ({ service }) => void Object.assign(service.aws, { key: 'alias/none' }),
    says: {
      signing_keys: 'unavailable: key alias/none does not exist in this region: make it there, or name another in the service document',
    },
  },
  {
    what: 'the signing keys do not parse',
    begin: (of) => spoil(of, 'keyring.', { B: btoa('no JSON') }),
    says: { signing_keys: /^unavailable: the record of signing key ES256 \S+ can't be read, and no other is made in its place$/ },
  },
  {
    what: 'the signing keys’ items are no records',
    begin: (of) => spoil(of, 'keyring.', { S: 'text' }),
    says: { signing_keys: `unavailable: ${TABLE} holds an item of kind keyring that is no record: delete or mend it` },
  },
]

/** Of parameters. */
export const secrets: Trouble[] = [
  { what: 'the policy lacks the parameters', begin: (of) => withoutPermission(of, 'ssm:'), says: { state_secret: DENIED(STATE_SECRET) } },
  {
    what: 'no state secret was seeded',
    begin: (of) => withStateSecret(of, null),
    says: { state_secret: 'unavailable: no state secret at internal/oidc/state-secret: npm run seed -- --state-secret makes it' },
  },
  {
    what: 'the state secret’s parameter is no document',
    begin: (of) => withStateSecret(of, 'no JSON'),
    says: {
      state_secret: `unavailable: ${STATE_SECRET} does not hold {"value":"<standard base64 of the secret>"}: write it again with npm run seed`,
    },
  },
]

/** An isolate that meets the trouble, and what mends it. */
export async function begun(
  account: Account,
  { begin = () => () => {}, variables = () => ({}), edit }: Trouble,
): Promise<{ isolate: Isolate; mend: () => unknown }> {
  const mend = await begin(account)
  return { isolate: startIsolate({ ...account.variables, ...(await variables()) }, edit), mend }
}

/** The issuer's policy without what it says of one service. */
export function withoutPermission({ issuer }: Account, service: string): () => void {
  const whole = issuer.policy
  const statements = [whole?.Statement ?? []].flat() as IamStatement[]
  issuer.policy = { Statement: statements.filter(({ Action }) => ![Action].flat().some((action) => action.startsWith(service))) }
  return () => Object.assign(issuer, { policy: whole })
}

function withStateSecret(of: Account, text: string | null): Promise<() => Promise<unknown>> {
  return withParameter(of, secretAddress.stateSecret, text)
}

/** A parameter with another text, or none. */
export async function withParameter({ operator, instance }: Account, path: string, text: string | null): Promise<() => Promise<unknown>> {
  const kept = (await operator.secrets.get(path)).value
  const Name = `/sluis/${instance}/${path}`
  await operator.call('ssm', 'DeleteParameter', { Name })
  if (text !== null) await operator.call('ssm', 'PutParameter', { Name, Value: text, Type: 'SecureString' })
  return async () => {
    if (text !== null) await operator.call('ssm', 'DeleteParameter', { Name })
    await operator.secrets.put(path, kept)
  }
}
