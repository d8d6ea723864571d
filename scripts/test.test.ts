import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { countReport, noiseFilter } from './test.ts'

let said: string[]

beforeEach(() => {
  said = []
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => void said.push(String(line)))
})

afterEach(() => {
  vi.restoreAllMocks()
})

/** A report of one file with tests of these outcomes. */
function report(...outcomes: string[]): string {
  const count = (status: string) => outcomes.filter((one) => one === status).length
  return JSON.stringify({
    success: count('failed') === 0,
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    testResults: [
      { name: 'a.test.ts', status: count('failed') > 0 ? 'failed' : 'passed', assertionResults: outcomes.map((status) => ({ status })) },
    ],
  })
}

test('tests are counted by how they ended', () => {
  expect(countReport(report('passed', 'passed'), 0)).toEqual({ passed: 2, failed: 0, skipped: 0 })
  expect(countReport(report('passed', 'failed', 'pending', 'todo'), 1)).toEqual({ passed: 1, failed: 1, skipped: 2 })
  expect(said).toEqual([])
})

test('a file that could not be run is one failed', () => {
  const broken = JSON.parse(report('passed'))
  broken.testResults.push({ name: 'b.test.ts', status: 'failed', assertionResults: [] })
  expect(countReport(JSON.stringify(broken), 1)).toEqual({ passed: 1, failed: 1, skipped: 0 })
})

test('an error outside of tests is one failed, and said', () => {
  expect(countReport(report('passed'), 1)).toEqual({ passed: 1, failed: 1, skipped: 0 })
  expect(said).toEqual(['vitest ended with 1 and 1 tests passed, though none failed: it counts as one'])
})

test('a run in which nothing passed is no success', () => {
  expect(countReport(report(), 0).failed).toBe(1)
  expect(countReport(null, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 })
})

test('what the runtime says of connections that tests cut is left out, and nothing else it says', () => {
  const lines = [
    'exception = rust/worker/ffi.rs:110: disconnected: client error (SendRequest)',
    'stack: /somewhere/bin/workerd@28a3c60 /somewhere/bin/workerd@3ac7580',
    'uncaught exception; source = Uncaught (in promise); stack = Error: Network connection lost.',
    'uncaught exception; exception = workerd/jsg/value.h:1535: disconnected: jsg.Error: Network connection lost.',
    'stack: /somewhere/bin/workerd@28a3c60',
    'uncaught exception; source = Uncaught (in promise); stack = TypeError: x is not a function',
    'stack: /somewhere/bin/workerd@1',
    'a line of a test',
  ]
  const isNoise = noiseFilter()
  expect(lines.filter((line) => !isNoise(line))).toEqual(lines.slice(5))
})
