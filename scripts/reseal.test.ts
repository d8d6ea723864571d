import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Documents } from '../src/config/documents.ts'
import { readDocuments } from '../src/config/documents.ts'
import { type OpsCommand, OpsError, type OpsTarget } from './ops-client.ts'
import { reseal } from './reseal.ts'
import { stateSecret } from './state-secret.ts'

const written = {
  service: {
    ...{ version: 1, instance: 'dev', issuer: 'http://localhost:8787', name: 'Acme', signin: { picker: true } },
    directory: { kind: 'local', people: [] },
  },
  policy: { version: 1, groups: {}, clients: {} },
}

beforeAll(() => {
  vi.stubEnv('OPS_KEY', 'b3BzLWtleS1vZi10aGUtdGVzdHMtMzItYnl0ZXMuLi4')
  vi.stubEnv('ISSUER', undefined)
  vi.stubEnv('INSTANCE', undefined)
})
afterAll(() => vi.unstubAllEnvs())

async function documents(): Promise<Documents> {
  const reading = readDocuments(written)
  return reading.ok ? reading.documents : expect.unreachable('the documents are right')
}

/** An issuer that answers so, and what it was asked. */
function answering(answer: Record<string, unknown> | Error = {}) {
  const asked: [OpsTarget['issuer'], OpsCommand][] = []
  const ask = async ({ issuer }: OpsTarget, command: OpsCommand) => {
    asked.push([issuer, command])
    if (answer instanceof Error) throw answer
    return answer
  }
  return { asked, ask }
}

const NOTHING = { resealed: 0, left: 0, untold: 0, unopenable: [] }

describe('npm run reseal', () => {
  it('says that the earlier key can go when nothing is left of it', async () => {
    const { asked, ask } = answering({ keys: { ...NOTHING, resealed: 3 }, secrets: { resealed: 2, left: 0, unopenable: [] } })
    const { words, done } = await reseal([], documents, ask)
    expect(asked).toEqual([['http://localhost:8787', { command: 'keyring.reseal', all: false }]])
    expect(words.split('\n')).toEqual([
      'signing keys: 3 sealed anew, 0 left, 0 do not open',
      'secrets: 2 sealed anew, 0 left, 0 do not open',
      'no seal of an earlier key is left',
    ])
    expect(done).toBe(true)
  })

  it.each([
    ['left', { keys: { ...NOTHING, left: 1 }, secrets: null }, /1 left/],
    ['that does not open', { keys: { ...NOTHING, unopenable: ['ES256:k'] }, secrets: null }, /left as it is: ES256:k/],
    [
      'of a secret that does not open',
      { keys: NOTHING, secrets: { resealed: 0, left: 0, unopenable: ['internal/a'] } },
      /left as it is: internal\/a/,
    ],
  ])('is not done while there is a seal %s, and names it', async (_what, answer, names) => {
    const { words, done } = await reseal([], documents, answering(answer).ask)
    expect(words).toMatch(names)
    expect(words).toContain('not done')
    expect(done).toBe(false)
  })

  it('tells of keys whose seals say nothing, and takes all when it is told to', async () => {
    const { asked, ask } = answering({ keys: { ...NOTHING, untold: 2 }, secrets: null })
    expect((await reseal(['--issuer', 'https://id.acme.example/'], documents, ask)).words).toMatch(/: 2, left as they are \(--all/)
    await reseal(['--all'], documents, ask)
    expect(asked).toEqual([
      ['https://id.acme.example', { command: 'keyring.reseal', all: false }],
      ['http://localhost:8787', { command: 'keyring.reseal', all: true }],
    ])
  })

  it('has a key that is lost replaced by name, and nothing else', async () => {
    const { asked, ask } = answering({ kid: 'new' })
    expect((await reseal(['--replace', 'EdDSA:lost-1_x'], documents, ask)).words).toBe('EdDSA:new signs in place of lost-1_x')
    expect(asked).toEqual([['http://localhost:8787', { command: 'keyring.replace', alg: 'EdDSA', kid: 'lost-1_x' }]])
  })

  it.each([
    [['--replace', 'lost'], /--replace takes ES256, RS256/],
    [['--replace', 'ES512:k'], /--replace takes/],
    [['--replace', 'ES256:'], /--replace takes/],
    [['--replace', 'ES256:k', '--all'], /two commands/],
    [['--force'], /npm run reseal/],
    [['keys'], /npm run reseal/],
  ])('%j is refused before anybody is asked', async (args, why) => {
    const { asked, ask } = answering()
    await expect(reseal(args, documents, ask)).rejects.toThrow(why)
    expect(asked).toEqual([])
  })

  it('takes no other answer for one of these', async () => {
    await expect(reseal([], documents, answering({ keys: 3 }).ask)).rejects.toThrow('answered otherwise')
  })

  it('says what the issuer refused it for', async () => {
    const refusing = answering(new OpsError('invalid_request', 400, 'invalid_request: there is no key ES256:k'))
    await expect(reseal(['--replace', 'ES256:k'], documents, refusing.ask)).rejects.toThrow('there is no key ES256:k')
  })
})

describe('npm run state-secret', () => {
  it.each([
    ['status', { found: 'same' }, /^same: .*nothing to accept/],
    ['status', { found: 'changed' }, /^changed: http:\/\/localhost:8787 does not serve$/],
    ['status', { found: 'foreign' }, /^foreign: another implementation/],
    ['accept', { found: 'same', accepted: false }, /^same: .*nothing to accept/],
    ['accept', { found: 'changed', accepted: true }, /takes its present state secret for its own/],
  ])('%s of %j is told in words', async (action, answer, words) => {
    const { asked, ask } = answering(answer)
    expect(await stateSecret([action], documents, ask)).toMatch(words)
    expect(asked).toEqual([['http://localhost:8787', { command: `state-secret.${action}` }]])
  })

  it('that can not be read is said to be so, and nothing is accepted', async () => {
    const { ask } = answering({ found: 'unreadable', reason: 'it does not open', accepted: false })
    await expect(stateSecret(['accept'], documents, ask)).rejects.toThrow('unreadable: it does not open')
  })

  it.each([[[]], [['reset']], [['accept', 'now']]])('%j is refused, with what accepting costs', async (args) => {
    const { asked, ask } = answering()
    await expect(stateSecret(args, documents, ask)).rejects.toThrow(/what was derived\s+from it is lost/)
    expect(asked).toEqual([])
  })
})
