import { describe, expect, it } from 'vitest'
import { PortError } from '../ports/error.ts'
import { describeError, ownMessage } from './describe-error.ts'

const SECRET = 'slr_4Tn2q-0dH3kfLZcX8mBv7sYwEjRaGpUiOoQeWtIyN1c'

describe('describeError', () => {
  it('gives name, code and message of an error of ours', () => {
    expect(describeError(new PortError('Conflict', 'the revision moved'))).toEqual({
      name: 'PortError',
      code: 'Conflict',
      message: 'the revision moved',
    })
  })

  it('knows an error of ours in another room by its mark', () => {
    class Ours extends Error {
      override readonly name = 'Ours'
      readonly [ownMessage] = true
      readonly code = 'odd'
    }
    expect(describeError(new Ours('we wrote this'))).toEqual({ name: 'Ours', code: 'odd', message: 'we wrote this' })
  })

  it('cuts people and secrets out of our own messages', () => {
    const message = `create ses.ada~40acme~2Eexample.s1 after ada@acme.example sent ${SECRET}: temporarily_unavailable`
    expect(describeError(new PortError('Exists', message)).message).toBe(
      'create [person] after [person] sent [redacted]: temporarily_unavailable',
    )
  })

  it('leaves the names of variables, however long', () => {
    const message = 'AWS_OIDC_SECRET_ACCESS_KEY is missing, AKIAIOSFODNN7EXAMPLEKEY1 is not'
    expect(describeError(new PortError('Unavailable', message)).message).toBe('AWS_OIDC_SECRET_ACCESS_KEY is missing, [redacted] is not')
  })

  it('gives a foreign error by name and place, never its message or code', () => {
    const foreign = Object.assign(new TypeError(`bad token ${SECRET} of ada@acme.example`), { code: SECRET })
    const described = describeError(foreign)
    expect(described.name).toBe('TypeError')
    expect(described.at?.[0]).toMatch(/^describe-error\.test\.ts:\d+:\d+$/)
    expect(JSON.stringify(described)).not.toMatch(/slr_|ada/)
  })

  it('takes no frame from a message that looks like one', () => {
    const forged = new Error('boom\n    at ada (/etc/ada-lovelace.ts:1:2)\n    at x (secret.js:3:4)')
    expect(describeError(forged).at?.join()).not.toMatch(/ada|secret/)
  })

  it('takes no frames from a stack that does not hold the message', () => {
    const odd = Object.assign(new Error('second'), { stack: 'Error: first\n    at ada (ada-lovelace.ts:1:2)' })
    expect(describeError(odd).at).toEqual([])
  })

  it('does not write a name that is no class name', () => {
    const named = Object.assign(new Error('x'), { name: `ada@acme.example ${SECRET}` })
    expect(describeError(named).name).toBe('Error')
  })

  it('names the chain of causes and nothing else of them', () => {
    const error = new PortError('Unavailable', 'get failed', {
      cause: new PortError('TooLarge', SECRET, { cause: new RangeError(SECRET) }),
    })
    expect(describeError(error).causes).toEqual(['PortError TooLarge', 'RangeError'])
    expect(JSON.stringify(describeError(error))).not.toContain(SECRET)
  })

  it('ends at five causes, so that a ring of them ends too', () => {
    const ring = new Error('a')
    ring.cause = ring
    expect(describeError(ring).causes).toEqual(['Error', 'Error', 'Error', 'Error', 'Error'])
  })

  it('says only the type of what is no error', () => {
    expect(describeError(SECRET)).toEqual({ name: 'string' })
    expect(describeError(null)).toEqual({ name: 'object' })
  })
})
