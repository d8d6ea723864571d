import type { Adapter, Payload } from 'oidc-provider'

/**
 * Records in Maps, as oidc-provider's own in-memory adapter keeps them, without its two limits that a bench would measure instead of the
 * library: it forgets all but the last thousand records or two, and rereads every token of a grant at each write of one.
 */
export function mapAdapter(): (model: string) => Adapter {
  const records = new Map<string, Payload>()
  const ofGrant = new Map<string, Set<string>>()

  return (model) => {
    const key = (id: string) => `${model}:${id}`
    const byField = async (field: 'uid' | 'userCode', value: string) =>
      [...records.values()].find((payload) => payload.kind === model && payload[field] === value)

    return {
      async upsert(id, payload) {
        records.set(key(id), payload)
        if (payload.grantId === undefined) return
        const members = ofGrant.get(payload.grantId)
        if (members === undefined) ofGrant.set(payload.grantId, new Set([key(id)]))
        else members.add(key(id))
      },
      find: async (id) => records.get(key(id)),
      findByUid: (uid) => byField('uid', uid),
      findByUserCode: (userCode) => byField('userCode', userCode),
      async consume(id) {
        const payload = records.get(key(id))
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000)
      },
      async destroy(id) {
        records.delete(key(id))
      },
      async revokeByGrantId(grantId) {
        for (const member of ofGrant.get(grantId) ?? []) records.delete(member)
        ofGrant.delete(grantId)
      },
    }
  }
}
