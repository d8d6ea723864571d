import { env } from 'cloudflare:workers'
import { localSealer } from '../../src/adapters/local/sealer.ts'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { memorySecrets, secretsMemory } from '../../src/adapters/memory/secrets.ts'
import { type SealedSecretsNamespace, sealedSecrets } from '../../src/adapters/sealed/secrets.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { clock, random } from './arrange.ts'
import { runSecretsSuite } from './secrets-suite.ts'
import { everySecond, someDelay, unreliableObjects } from './unreliable-objects.ts'

runSecretsSuite('memory', async () => {
  const memory = secretsMemory()
  const scheduler = seededScheduler(1)
  return { open: () => memorySecrets({ clock, memory, scheduler }) }
})

runSecretsSuite('sealed', async () => sealedSubject(() => env.SEALED_SECRETS))

runSecretsSuite('sealed, where every second answer is lost after it was applied and the object evicted', async () =>
  sealedSubject(() => unreliableObjects({ delay: someDelay, loses: everySecond(), evicts: true })),
)

/** Adapters over one object, each with its own way to it, as Workers in different places have. */
function sealedSubject(namespace: () => SealedSecretsNamespace) {
  const instance = crypto.randomUUID()
  const sealKey = encodeBase64url(random.bytes(32))
  return {
    open: () => sealedSecrets({ namespace: namespace(), instance, sealer: localSealer({ sealKey, random }), clock, random }),
  }
}
