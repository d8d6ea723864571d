const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const STATUSES = [200, 204, 302, 303, 304, 400, 401, 403, 404, 405, 409, 413, 415, 421, 422, 429, 500, 503].map(String)
const PORT_ERRORS = ['Exists', 'Conflict', 'NotFound', 'BadPage', 'TooLarge', 'NoLifetime', 'Unsupported', 'NotOwner', 'Unavailable']
const OPERATIONS = {
  state: ['get', 'put', 'create', 'update', 'delete', 'deleteIfRevision', 'list', 'peekRevision'],
  index: ['add', 'remove', 'members'],
  secrets: ['get', 'put', 'putIfVersion', 'delete', 'list'],
  blob: ['read', 'write', 'writeIfVersion', 'delete', 'list', 'readStream', 'writeStream'],
  sealer: ['seal', 'open'],
} as const

/**
 * Every metric, and the words each of its labels may have. Closed: a label can hold no person, token, key or address, nor anything a client
 * chose; what is none of its words is `other`. An empty list is of this installation, which says its words with `know`.
 */
const table = {
  requests: { route: ['unmatched'], method: METHODS, status: STATUSES },
  grants: {
    grant: ['authorization_code', 'refresh_token', 'device_code'],
    outcome: [
      ...['granted', 'pending', 'invalid_request', 'invalid_client', 'invalid_grant', 'invalid_scope', 'invalid_target'],
      ...['unauthorized_client', 'unsupported_grant_type', 'access_denied', 'expired_token', 'temporarily_unavailable', 'server_error'],
    ],
  },
  'port.calls': { port: Object.keys(OPERATIONS), operation: Object.values(OPERATIONS).flat(), outcome: ['ok', 'failed', ...PORT_ERRORS] },
  ticks: { kind: [], outcome: ['ran', 'more', 'contended', 'failed', 'skipped'] },
  leases: { kind: [], outcome: ['held', 'contended', 'lost'] },
  keys: { alg: ['ES256', 'RS256', 'ES384', 'EdDSA'], event: ['made', 'retired', 'resealed', 'unusable'] },
  deliveries: { channel: ['back'], outcome: ['told', 'failed', 'gone'] },
  signins: { how: [], outcome: ['completed', 'refused'] },
} as const satisfies Record<string, Record<string, readonly string[]>>

export type MetricName = keyof typeof table
type LabelName = { [Name in MetricName]: keyof (typeof table)[Name] }[MetricName]
export type Labels<Name extends MetricName> = { readonly [Label in keyof (typeof table)[Name]]: string | number }
export type Operation<Port extends keyof typeof OPERATIONS> = (typeof OPERATIONS)[Port][number]
export type PortName = keyof typeof OPERATIONS

/** Counts. Cheap enough for every call of a hot path: nothing is sent before `write` of the meter. */
export interface Metrics {
  count<Name extends MetricName>(name: Name, labels: Labels<Name>, by?: number): void
  /** One more of it, and how long it took. */
  duration<Name extends MetricName>(name: Name, ms: number, labels: Labels<Name>): void
}

/** What is counted, of one isolate. */
export interface Meter extends Metrics {
  /** Words of this installation that a label may have: routes, kinds of ticks, ways of signing in. */
  know(label: LabelName, words: Iterable<string>): void
  /** Sends what was counted since. To be called at the end of each invocation. */
  write(): void
}

/** One metric with one set of labels, added up. */
export interface Series {
  readonly name: MetricName
  /** In the order of the table. */
  readonly labels: readonly string[]
  count: number
  /** ms, of all together and of the longest; 0 of what has no duration */
  total: number
  longest: number
}

/** Counts nothing: the meter of a Worker that has nowhere to write to. */
export const noMeter: Meter = { count() {}, duration() {}, know() {}, write() {} }

const SERIES = 100 // a write: Cloudflare takes 250 data points of an invocation, and one that works on after its answer writes twice

/** Adds up what is counted, and hands it to `send`, at most `limit` series at a time: the others are sent by the next write. */
export function createMeter(send: (series: readonly Series[]) => void, limit = SERIES): Meter {
  const labelsOf = new Map(Object.entries(table).map(([name, labels]) => [name, Object.entries(labels).map(labelOf)]))
  const series = new Map<string, Series>()

  function add(name: MetricName, given: Readonly<Record<string, string | number>>, count: number, ms: number): void {
    let key: string = name
    const labels: string[] = []
    for (const { label, words } of labelsOf.get(name) ?? []) {
      const value = String(given[label])
      const word = words.has(value) ? value : 'other'
      labels.push(word)
      key += `\n${word}`
    }
    const one = series.get(key)
    if (one === undefined) series.set(key, { name, labels, count, total: ms, longest: ms })
    else {
      one.count += count
      one.total += ms
      one.longest = Math.max(one.longest, ms)
    }
  }

  return {
    count: (name, labels, by = 1) => add(name, labels, by, 0),
    duration: (name, ms, labels) => add(name, labels, 1, ms),
    know(label, more) {
      const words = [...more]
      for (const one of [...labelsOf.values()].flat()) if (one.label === label) for (const word of words) one.words.add(word)
    },
    write() {
      if (series.size === 0) return
      const due = [...series].slice(0, limit)
      for (const [key] of due) series.delete(key)
      send(due.map(([, one]) => one))
    },
  }
}

function labelOf([label, words]: [string, readonly string[]]): { label: string; words: Set<string> } {
  return { label, words: new Set(words) }
}
