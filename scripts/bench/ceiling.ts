import { bundleWorker } from './bundle.ts'
import type { Contender } from './contender.ts'
import { freePort } from './free-port.ts'
import { compatibility } from './platform.ts'
import { startWorkerd } from './workerd.ts'

/** A bare Worker that writes one row and signs once: nothing on this platform that hands out a token can be faster. */
export async function startCeiling(): Promise<Contender> {
  const source = { name: 'ceiling', script: await bundleWorker('ceiling.ts'), ...compatibility() }
  const running = await startWorkerd(await freePort(), source, { durableObjects: { ROWS: { className: 'Rows', useSQLite: true } } })
  return { ...running, name: 'ceiling', target: null, codes: async () => [] }
}
