import type { StoreCheck } from '../issuer/health.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { MaintenanceGate } from '../ports/maintenance.ts'
import type { Resealable } from '../ports/sealer.ts'

/** Sealing anew is writing. */
export function maintainedSeals(secrets: Resealable, gate: MaintenanceGate): Resealable {
  return {
    stale: () => secrets.stale(),
    async reseal() {
      await gate.pass()
      return secrets.reseal()
    },
  }
}

/** While there is one, the key that made it may not go. */
export function sealsCheck(keyring: Keyring, secrets: Resealable | undefined): StoreCheck {
  return {
    name: 'seals',
    async concern() {
      const counts = await Promise.allSettled([keyring.stale(), secrets?.stale() ?? 0])
      // Of a store that is away its own check says so.
      const [keys = 0, values = 0] = counts.map((count) => (count.status === 'fulfilled' ? count.value : 0))
      return keys + values === 0 ? null : `${keys} signing keys and ${values} secrets stand under an earlier SEAL_KEY: npm run reseal`
    },
  }
}
