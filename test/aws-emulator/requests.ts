/** What has been asked since the start or the last reset. */
export interface Requests {
  /** Well-signed calls that were carried out, whatever the answer, as `dynamodb.GetItem`: what an engine would bill. */
  counts: Record<string, number>
  /** Those of DynamoDB's reads that did not ask for a consistent one. */
  eventual: number
  /** Faults put on calls, as `throttle`, or the type of a named refusal. */
  faults: Record<string, number>
  /** Refusals by the service itself, as `dynamodb.ConditionalCheckFailedException`. */
  refused: Record<string, number>
  reset(): void
}

export function countRequests(): Requests {
  const requests: Requests = {
    counts: {},
    eventual: 0,
    faults: {},
    refused: {},
    reset() {
      requests.counts = {}
      requests.eventual = 0
      requests.faults = {}
      requests.refused = {}
    },
  }
  return requests
}

export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
