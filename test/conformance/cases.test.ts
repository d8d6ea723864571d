import { describe, expect, it } from 'vitest'
import { type Case, runCases } from './cases.ts'

const cases: Case<string[]>[] = [
  { id: 'held', rule: 'a case gets a subject of its own', holds: async (subject) => expect(subject).toEqual(['fresh']) },
]

describe('a suite of cases', () => {
  it('refuses a skip of a case it does not have', () => {
    expect(() => runCases('port', cases, async () => ['fresh'], { hold: 'a slip of the pen' })).toThrow('hold, which is no case')
  })

  it('refuses a skip without a reason', () => {
    expect(() => runCases('port', cases, async () => ['fresh'], { held: ' ' })).toThrow('held without a reason')
  })
})

runCases('cases', cases, async () => ['fresh'])
