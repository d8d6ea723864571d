import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyticsMeter } from './analytics.ts'
import { countAudited } from './audited.ts'
import { createMeter, type MetricName, type Series } from './metrics.ts'

/** A meter, and what it has sent. */
function arrange(limit?: number) {
  const sent: (readonly Series[])[] = []
  const meter = createMeter((series) => sent.push(series), limit)
  return { meter, sent }
}

describe('a meter', () => {
  it('adds up what has the same labels, and sends it once', () => {
    const { meter, sent } = arrange()
    meter.duration('port.calls', 4, { port: 'state', operation: 'get', outcome: 'ok' })
    meter.duration('port.calls', 9, { port: 'state', operation: 'get', outcome: 'ok' })
    meter.count('grants', { grant: 'refresh_token', outcome: 'granted' }, 3)
    meter.write()
    meter.write()
    expect(sent).toEqual([
      [
        { name: 'port.calls', labels: ['state', 'get', 'ok'], count: 2, total: 13, longest: 9 },
        { name: 'grants', labels: ['refresh_token', 'granted'], count: 3, total: 0, longest: 0 },
      ],
    ])
  })

  it('knows the words of this installation once it is told', () => {
    const { meter, sent } = arrange()
    const counted = () => meter.count('requests', { route: '/token', method: 'POST', status: 200 })
    counted()
    meter.know('route', ['/token'])
    counted()
    meter.write()
    expect(sent[0]?.map(({ labels }) => labels)).toEqual([
      ['other', 'POST', '200'],
      ['/token', 'POST', '200'],
    ])
  })

  it.each([200, 304, 422, 503])('knows the status %i, which a route of ours answers', (status) => {
    const { meter, sent } = arrange()
    meter.count('requests', { route: 'unmatched', method: 'GET', status })
    meter.write()
    expect(sent[0]?.[0]?.labels[2]).toBe(String(status))
  })

  it('sends no more at a time than an invocation may, and the rest later', () => {
    const { meter, sent } = arrange(2)
    for (const outcome of ['granted', 'pending', 'invalid_grant']) meter.count('grants', { grant: 'device_code', outcome })
    meter.write()
    meter.write()
    expect(sent.map((series) => series.map(({ labels }) => labels[1]))).toEqual([['granted', 'pending'], ['invalid_grant']])
  })

  it('lets no label hold anything but its words, whatever it is given', () => {
    const metrics: MetricName[] = ['requests', 'grants', 'port.calls', 'ticks', 'leases', 'keys', 'deliveries', 'signins']
    const names = ['route', 'method', 'status', 'grant', 'outcome', 'port', 'operation', 'kind', 'how', 'alg', 'event', 'channel']
    const said = fc.oneof(
      fc.emailAddress(),
      fc.ipV4(),
      fc.integer({ max: -1 }),
      fc.string().map((text) => `${text} `), // no word ends in a space
      fc.constantFrom('toString', '__proto__', 'constructor', 'slr_secret', '', '/account/../token', undefined),
    )
    const labels = fc.array(said, { minLength: names.length, maxLength: names.length })
    fc.assert(
      fc.property(fc.constantFrom(...metrics), labels, (name, values) => {
        const { meter, sent } = arrange()
        meter.know('route', ['/token'])
        meter.know('how', ['picker'])
        meter.count(name, Object.fromEntries(names.map((label, at) => [label, values[at]])) as never)
        meter.write()
        expect(new Set(sent.flat().flatMap(({ labels }) => labels))).toEqual(new Set(['other']))
      }),
    )
  })
})

it('a data point is the name, the labels in the order of the table, and three numbers', () => {
  const points: object[] = []
  const meter = analyticsMeter({ writeDataPoint: (point) => points.push(point) })
  meter.duration('ticks', 1200, { outcome: 'ran', kind: 'logout' })
  meter.know('kind', ['logout'])
  meter.duration('ticks', 300, { outcome: 'more', kind: 'logout' })
  meter.write()
  expect(points).toEqual([
    { indexes: ['ticks'], blobs: ['ticks', 'other', 'ran'], doubles: [1, 1200, 1200] },
    { indexes: ['ticks'], blobs: ['ticks', 'logout', 'more'], doubles: [1, 300, 300] },
  ])
})

it('sign-ins and keys are counted by what is audited of them, without whom it is about', () => {
  const { meter, sent } = arrange()
  meter.know('how', ['picker', 'recovery'])
  const count = countAudited(meter)
  const ada = { subject: 'ada@acme.example' }
  count({ event: 'signin.completed', how: 'picker', ...ada })
  count({ event: 'signin.refused', how: 'picker', ...ada })
  count({ event: 'recovery.refused' })
  count({ event: 'key.made', alg: 'ES256' })
  count({ event: 'session.opened', ...ada })
  meter.write()
  expect(sent.flat().map(({ name, labels }) => [name, ...labels])).toEqual([
    ['signins', 'picker', 'completed'],
    ['signins', 'picker', 'refused'],
    ['signins', 'recovery', 'refused'],
    ['keys', 'ES256', 'made'],
  ])
  expect(JSON.stringify(sent)).not.toContain('ada')
})
