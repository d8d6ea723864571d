import { localSealer } from '../../src/adapters/local/sealer.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { random } from './arrange.ts'
import { runSealerSuite } from './sealer-suite.ts'

runSealerSuite('local', async () => {
  const [sealKey, another, newer] = [freshKey(), freshKey(), freshKey()]
  return {
    open: () => localSealer({ sealKey, random }),
    openAnotherKey: () => localSealer({ sealKey: another, random }),
    openRotated: () => localSealer({ sealKey: newer, previous: sealKey, random }),
  }
})

function freshKey(): string {
  return encodeBase64url(random.bytes(32))
}
