import type { Adapters } from '../../src/compose.ts'
import { signInSrp, verifierFrom } from '../../src/crypto/srp/srp.ts'
import { secretAddress } from '../../src/ports/keys.ts'
import { switchRecoveryOff } from '../../src/records/recovery-off.ts'
import { writeVerifier } from '../../src/records/verifier.ts'
import { authorizeUrl, startService, TestBrowser, type TestService, type TestStore, testStore } from './harness.ts'

/** What the passwords of the accounts come to. */
export const RECOVERY = 0x1111n
export const CONFORMANCE = 0x2222n

export const salts = { recovery: new Uint8Array(16).fill(1), conformance: new Uint8Array(16).fill(2) }

/** A store whose documents have both accounts, and let both into the demo client. */
export function passwordStore(): TestStore {
  return testStore('memory', {
    edit({ service, policy }) {
      service.recovery = { generation: 1 }
      service.signin.conformance = true
      policy.groups['app:demo:user']?.matchers.push({ account: 'recovery' }, { account: 'conformance' })
    },
  })
}

/** A service where both accounts sign in by their passwords. */
export async function startPasswordService(
  store: TestStore = passwordStore(),
  wrap?: (adapters: Adapters) => Adapters,
): Promise<TestService> {
  const service = startService(store, wrap)
  const { secrets } = store.adapters()
  await secrets.put(secretAddress.recoveryVerifier, writeVerifier({ salt: salts.recovery, v: verifierFrom(RECOVERY, signInSrp) }))
  await secrets.put(secretAddress.conformanceVerifier, writeVerifier({ salt: salts.conformance, v: verifierFrom(CONFORMANCE, signInSrp) }))
  return service
}

/** An operator switches the recovery account off, and as long passes as an isolate may not have noticed. */
export async function switchOff(store: TestStore, service: TestService): Promise<void> {
  const at = Math.floor(store.clock.now() / 1000)
  await switchRecoveryOff(store.adapters().state, { generation: 1, at, by: 'operator' }, service.services.issuer.log)
  store.clock.advance(3)
}

/** A browser with a request that waits for a person. */
export async function waiting(service: TestService, changes: Record<string, string | undefined> = {}) {
  const browser = new TestBrowser(service)
  const answer = await browser.get(await authorizeUrl(changes))
  return { browser, auth: new URL(answer.headers.get('location') ?? '', service.url).searchParams.get('auth') ?? '' }
}
