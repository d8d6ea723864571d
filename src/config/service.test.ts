import { describe, expect, test } from 'vitest'
import { DocumentError, formatProblem } from './problems.ts'
import { type Service, type ServiceVars, serviceProblems, serviceSchema, withVars } from './service.ts'

const valid = {
  version: 1,
  instance: 'dev',
  issuer: 'http://localhost:8787',
  name: 'Acme',
  directory: { kind: 'local', people: [{ email: 'ada@acme.example' }] },
  signin: { picker: true },
}

/** What is said about the valid document with these fields in place of its own. */
function said(fields: object): string[] {
  return serviceProblems({ ...valid, ...fields }).map(formatProblem)
}

function people(...rows: object[]): object {
  return { directory: { kind: 'local', people: rows } }
}

const service: Service = serviceSchema.parse(valid)

describe('a service document', () => {
  test('that says only what it must has defaults for the rest, durations in seconds', () => {
    expect(said({})).toEqual([])
    expect(service.keyring).toEqual({ default: 'ES256', rings: ['ES256', 'RS256'], rotate_every: 86_400, prepublish: 900, verify_only: [] })
    expect(service).toMatchObject({ preset: 'embedded', plan: 'paid' })
    expect(service.directory.people).toEqual([{ email: 'ada@acme.example', groups: [], suspended: false }])
  })

  test('that is wrong in several places says so of each', () => {
    expect(said({ version: 2, instance: 'Dev', issuer: 'https://a.example/', colour: 'red' })).toEqual([
      'version: is not 1',
      'instance: is not 1 to 32 lower-case letters, digits and inner dashes',
      'issuer: is not a bare origin: no path, no query, no trailing slash, written https://a.example',
      'colour: is not a field this version knows',
    ])
  })

  test('that is no mapping says so', () => {
    expect(serviceProblems(null).map(formatProblem)).toEqual(['document: is empty, not a mapping'])
    expect(serviceProblems([]).map(formatProblem)).toEqual(['document: is a list, not a mapping'])
  })

  test('says which fields are missing', () => {
    expect(serviceProblems({ version: 1 }).map(formatProblem)).toEqual([
      'instance: is missing',
      'issuer: is missing',
      'name: is missing',
      'directory: is missing',
      'signin: is missing',
    ])
  })
})

describe('instance', () => {
  test('is lower-case letters, digits and inner dashes, at most 32', () => {
    for (const instance of ['dev', 'acme-2', 'a', 'a'.repeat(32)]) expect(said({ instance })).toEqual([])
    for (const instance of ['', 'Dev', 'a_b', 'a.b', '-a', 'a-', 'a b', 'é', 'a'.repeat(33)])
      expect(said({ instance })[0]).toMatch(/^instance: /)
  })

  test('is none of the names the secret layout keeps', () => {
    for (const instance of ['private', 'export', 'internal', 'external']) {
      expect(said({ instance })).toEqual(['instance: is a name kept for the layout (private, export, internal, external)'])
    }
  })
})

describe('issuer', () => {
  test('is a bare https origin', () => {
    for (const issuer of [
      'https://id.acme.example/',
      'https://id.acme.example/a',
      'https://id.acme.example?a',
      'https://u@id.acme.example',
    ]) {
      expect(withVarsSaid({ ISSUER: issuer })[0]).toMatch(/^ISSUER: is not a bare origin/)
    }
    for (const issuer of ['https://ID.acme.example', 'https://id.acme.example:443']) {
      expect(withVarsSaid({ ISSUER: issuer })[0]).toMatch(/written https:\/\/id\.acme\.example$/)
    }
    for (const issuer of ['', 'id.acme.example', 'https://'])
      expect(said({ issuer })[0]).toBe('issuer: is not an origin like https://id.acme.example')
  })

  test('is http on localhost, 127.0.0.1 and [::1] only', () => {
    for (const issuer of ['http://localhost:8787', 'http://127.0.0.1:1', 'http://[::1]:8787']) expect(said({ issuer })).toEqual([])
    for (const issuer of ['http://id.acme.example', 'http://127.0.0.2', 'http://a.localhost', 'ftp://localhost']) {
      expect(said({ issuer })[0]).toBe('issuer: is not https (http is for localhost, 127.0.0.1 and [::1] only)')
    }
  })
})

describe('the picker and the local directory', () => {
  const message = 'is for an issuer on localhost, 127.0.0.1 or [::1] only, and this one is https://id.acme.example'

  test('are refused where the issuer is not loopback', () => {
    expect(said({ issuer: 'https://id.acme.example' })).toEqual([`signin.picker: ${message}`, `directory.kind: local ${message}`])
    expect(said({ issuer: 'https://id.acme.example', signin: {} })).toEqual([`directory.kind: local ${message}`])
  })

  test('are refused when a variable moves the issuer away', () => {
    expect(withVarsSaid({ ISSUER: 'https://id.acme.example' })).toEqual([`signin.picker: ${message}`, `directory.kind: local ${message}`])
  })
})

describe('a person', () => {
  test('is one address, whatever its case', () => {
    expect(said(people({ email: 'ada@acme.example' }, { email: 'grace@acme.example' }, { email: 'Ada@Acme.example' }))).toEqual([
      'directory.people[2].email: is the address of people[0] too (case does not tell two people apart)',
    ])
  })

  test('has an address and groups that are addresses, lower-cased', () => {
    expect(said(people({ email: 'ada', groups: ['engineering'] }))).toEqual([
      'directory.people[0].email: is not an address like ada@acme.example',
      'directory.people[0].groups[0]: is not an address like ada@acme.example',
    ])
    for (const email of ['a b@acme.example', 'a\u0000@acme.example', 'a@acme', 'a@-acme.example', 'ä@acme.example', 'a,b@acme.example']) {
      expect(said(people({ email }))).toHaveLength(1)
    }
    const upper = serviceSchema.parse({ ...valid, ...people({ email: 'ADA@acme.example', groups: ['Eng@Acme.example'] }) })
    expect(upper.directory.people[0]).toMatchObject({ email: 'ada@acme.example', groups: ['eng@acme.example'] })
  })

  test('has a name without control or direction characters', () => {
    for (const given_name of ['A\nda', 'A\u202eda', 'A\u2066da', 'A\u2028da', '\u0000', '\u200f']) {
      expect(said(people({ email: 'ada@acme.example', given_name }))[0]).toMatch(/^directory\.people\[0\]\.given_name: /)
    }
    expect(said(people({ email: 'ada@acme.example', given_name: 'Ада 👩‍💻' }))).toEqual([])
  })

  test('has no field this version does not know', () => {
    expect(said(people({ email: 'ada@acme.example', group: [] }))).toEqual(['directory.people[0].group: is not a field this version knows'])
  })
})

describe('keyring', () => {
  test('names its default among its rings, each once', () => {
    expect(said({ keyring: { default: 'ES384' } })).toEqual(['keyring.default: is ES384, which is none of the rings'])
    expect(said({ keyring: { rings: ['RS256'] } })).toEqual(['keyring: default is ES256, which is none of the rings'])
    expect(said({ keyring: { rings: [] } })).toEqual(['keyring.rings: names no ring'])
    expect(said({ keyring: { rings: ['ES256', 'ES256'] } })).toEqual(['keyring.rings: names a ring twice'])
    expect(said({ keyring: { rings: ['ES256', 'HS256'] } })).toEqual(['keyring.rings[1]: is none of ES256, RS256, ES384, EdDSA'])
  })

  test('rotates later than it publishes, within a week, in steps of its tick', () => {
    expect(said({ keyring: { rotate_every: '15m' } })).toEqual([
      'keyring.rotate_every: is not longer than prepublish: a key would be due before it may sign',
    ])
    expect(said({ keyring: { prepublish: '24h' } })).toEqual([
      'keyring: rotate_every is not longer than prepublish: a key would be due before it may sign',
    ])
    expect(said({ keyring: { rotate_every: '168h' } })).toEqual([])
    expect(said({ keyring: { rotate_every: '169h' } })).toEqual(['keyring.rotate_every: is over 168h'])
    expect(said({ keyring: { rotate_every: '1201s' } })).toEqual([
      'keyring.rotate_every: is no multiple of 5m, the period of the tick that makes keys',
    ])
    expect(said({ keyring: { prepublish: '4m' } })).toEqual(['keyring.prepublish: is under 5m, the period of the tick that publishes keys'])
  })

  test('says what is wrong with one field and judges the others all the same', () => {
    expect(said({ keyring: { rotate_every: 900, rings: [] } })).toEqual([
      'keyring.rotate_every: is not a duration like 90s, 15m, 12h or 30d',
      'keyring.rings: names no ring',
    ])
  })
})

test('a duration is a whole number above 0 and a unit', () => {
  for (const rotate_every of ['1.5h', '0h', '-1h', '1 h', '1w', 'h', '', '01h', '99999999s']) {
    expect(said({ keyring: { rotate_every } })).toEqual(['keyring.rotate_every: is not a duration like 90s, 15m, 12h or 30d'])
  }
})

test('a placement hint is one Cloudflare has', () => {
  expect(said({ location: { hint: 'weur' } })).toEqual([])
  expect(said({ location: { hint: 'mars' } })[0]).toMatch(/^location\.hint: is none of wnam, /)
})

describe('audit', () => {
  test('is nowhere, one sink or several', () => {
    const sinks = (fields: object) => serviceSchema.parse({ ...valid, ...fields }).audit
    expect(sinks({})).toEqual([])
    expect(sinks({ audit: 'none' })).toEqual([])
    expect(sinks({ audit: 'blob' })).toEqual(['blob'])
    expect(sinks({ audit: ['log', 'blob'] })).toEqual(['log', 'blob'])
  })

  test('is no other, and none twice', () => {
    for (const audit of ['fish', 7, {}]) expect(said({ audit })).toEqual(['audit: is neither none, log, blob nor a list of log and blob'])
    expect(said({ audit: ['log', 'none'] })).toEqual(['audit[1]: is none of log, blob'])
    expect(said({ audit: ['log', 'log'] })).toEqual(['audit: names a sink twice'])
    expect(said({ audit: [] })).toEqual(['audit: names no sink'])
  })
})

describe('the variables of an environment', () => {
  test('stand in for the issuer and the instance', () => {
    expect(withVars(service, {})).toEqual(service)
    expect(withVars(service, { ISSUER: 'http://localhost:9999', INSTANCE: 'other' })).toEqual({
      ...service,
      issuer: 'http://localhost:9999',
      instance: 'other',
    })
  })

  test('are held to the rules of the fields, and named when they break them', () => {
    expect(withVarsSaid({ ISSUER: '', INSTANCE: 'internal' })).toEqual([
      'ISSUER: is not an origin like https://id.acme.example',
      'INSTANCE: is a name kept for the layout (private, export, internal, external)',
    ])
  })
})

function withVarsSaid(vars: ServiceVars): string[] {
  try {
    withVars(service, vars)
  } catch (error) {
    if (error instanceof DocumentError) return error.problems.map(formatProblem)
    throw error
  }
  return []
}

describe('preset aws', () => {
  test('has a region, of the document or of a variable', () => {
    expect(withVars({ ...service, preset: 'aws' }, { AWS_REGION: 'eu-west-1' }).aws).toEqual({ region: 'eu-west-1' })
    const inDocument = serviceSchema.parse({ ...valid, preset: 'aws', aws: { region: 'us-gov-west-1', key: 'alias/sluis-acme' } })
    expect(withVars(inDocument, {}).aws).toEqual({ region: 'us-gov-west-1', key: 'alias/sluis-acme' })
    expect(withVars(inDocument, { AWS_REGION: 'eu-central-1' }).aws).toEqual({ region: 'eu-central-1', key: 'alias/sluis-acme' })
    expect(withVarsSaid({ PRESET: 'aws' })).toEqual([
      'AWS_REGION: is missing, and so is aws.region in the service document: preset aws needs one',
    ])
  })

  test('may be chosen by a variable, which names no other', () => {
    expect(withVars(service, { PRESET: 'aws', AWS_REGION: 'eu-west-1' }).preset).toBe('aws')
    expect(withVarsSaid({ PRESET: 'gcp' })[0]).toMatch(/^PRESET: /)
    expect(withVarsSaid({ AWS_REGION: 'here' })).toEqual(['AWS_REGION: is not an AWS region like eu-west-1'])
  })

  test('names KMS keys by alias, and none of AWS its own', () => {
    for (const key of ['alias/aws/ssm', 'arn:aws:kms:eu-west-1:111122223333:key/1', '1234abcd', 'alias/'])
      expect(said({ aws: { key } })[0]).toMatch(/^aws\.key: /)
    expect(said({ aws: { parameter_key: 'alias/aws/ssm' } })[0]).toMatch(/^aws\.parameter_key: /)
  })
})
