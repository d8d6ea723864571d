import { describe, expect, test } from 'vitest'
import { ArgumentsError, readArguments, workloads } from './bench/arguments.ts'
import { type Measured, percentile, spread, summarise } from './bench/figures.ts'
import { goals } from './bench/goals.ts'
import { table, times } from './bench/table.ts'

describe('arguments', () => {
  test('without any, every workload is driven at 1, 8 and 32 connections, five times', () => {
    expect(readArguments([])).toMatchObject({ workloads, connections: [1, 8, 32], runs: 5 })
  })

  test('one workload, one number of connections and the number of runs can be named', () => {
    const options = readArguments(['--only', 'refresh', '--connections', '8', '--runs', '3'])
    expect(options).toMatchObject({ workloads: ['refresh'], connections: [8], runs: 3 })
  })

  test('--quick is one short run of everything, and --runs still counts', () => {
    const [quick, long] = [readArguments(['--quick']), readArguments([])]
    expect(quick).toMatchObject({ workloads, connections: [1, 8, 32], runs: 1 })
    expect(quick.seconds).toBeLessThan(long.seconds)
    expect(quick.codes).toBeLessThan(long.codes)
    expect(readArguments(['--quick', '--runs', '2']).runs).toBe(2)
  })

  test.each([
    [['--only', 'everything']],
    [['--connections', '0']],
    [['--connections', '33']],
    [['--connections', '8.5']],
    [['--runs', '-1']],
    [['--runs', '']],
    [['--slow']],
    [['refresh']],
  ])('%j is refused with how to say it', (args) => {
    expect(() => readArguments(args)).toThrow(ArgumentsError)
    expect(() => readArguments(args)).toThrow('npm run bench')
  })
})

describe('figures', () => {
  test('a percentile is a value that was measured: the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, at) => at + 1)
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile(hundred, 1)).toBe(100)
    expect(percentile([7], 0.99)).toBe(7)
    expect(percentile(Float64Array.of(1, 2, 3), 0)).toBe(1)
    expect(percentile([], 0.5)).toBeNaN()
  })

  test('the spread of runs is their median, least and most, whatever their order', () => {
    expect(spread([30, 10, 20])).toEqual({ median: 20, min: 10, max: 30 })
    expect(spread([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 })
    expect(spread([100, 9, 20])).toEqual({ median: 20, min: 9, max: 100 }) // by number, not by letters
    expect(spread([])).toBeNull()
  })

  test('a figure that one run could not take is no figure', () => {
    const summary = summarise([run({ cpu: 1 }), run({ cpu: null })])
    expect(summary.cpu).toBeNull()
    expect(summary.perSecond).toEqual({ median: 100, min: 100, max: 100 })
  })
})

describe('table', () => {
  test('servers stand side by side with medians, spreads, and how many times each ours is', () => {
    const ours = { name: 'ours', summary: summarise([run({ perSecond: 200 }), run({ perSecond: 300 }), run({ perSecond: 250 })]) }
    const theirs = { name: 'theirs', summary: summarise([run({ perSecond: 100, cpu: null, peakMemory: null })]) }
    expect(table([ours, theirs]).split('\n')).toEqual([
      '                 req/s  p50 ms  p99 ms  CPU ms/req  peak MiB  log/req  ours is',
      'ours    250 (200..300)    1.00    9.00        1.50        64      1.0',
      'theirs             100    1.00    9.00         n/a       n/a      1.0    2.50x',
    ])
  })

  test('a ratio needs both', () => {
    expect(times(spread([3]), spread([2]))).toBe('1.50x')
    expect(times(null, spread([2]))).toBe('n/a')
    expect(times(spread([2]), null)).toBe('n/a')
  })
})

describe('goals', () => {
  const of = (perSecond: number, cpu: number | null = 1) => summarise([run({ perSecond, cpu })])

  test('each is reached at its limit, and not below', () => {
    expect(goals({ ours: of(200, 1.49), edgePeer: of(100), ceiling: of(400) })).toEqual([
      'at least 2x the edge peer: reached, 2.00x',
      'at least 0.5x the ceiling: reached, 0.50x',
      'under 1.5 ms of CPU a request: reached, 1.49 ms',
    ])
    for (const line of goals({ ours: of(199, 1.5), edgePeer: of(100), ceiling: of(400) })) expect(line).toContain('NOT reached')
  })

  test('one that could not be measured is not reached', () => {
    expect(goals({ ours: of(200, null), edgePeer: of(100), ceiling: of(400) }).at(-1)).toContain('NOT reached')
  })
})

function run(figures: Partial<Measured>): Measured {
  return { perSecond: 100, p50: 1, p99: 9, cpu: 1.5, peakMemory: 64 * 1_048_576, logLines: 1, ...figures }
}
