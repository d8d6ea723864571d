import { bundleWorker } from './bundle.ts'
import { spread } from './figures.ts'
import { freePort } from './free-port.ts'
import { compatibility } from './platform.ts'
import { cpuTime } from './process-usage.ts'
import { type Running, startWorkerd } from './workerd.ts'

const SIGN_INS = 500 // a run: two seconds of CPU, of a clock that counts hundredths
const AT_ONCE = 2
const GOAL = 10 // ms: what a Worker of the free plan may use for a request

if (import.meta.main) console.log(await measureSrp())

/** The CPU time of workerd for one sign-in by password, all that is computed for its two steps and one request more or less, in a line. */
export async function measureSrp({ runs = 5 }: { runs?: number } = {}): Promise<string> {
  const source = { name: 'srp', script: await bundleWorker('srp.ts'), ...compatibility() }
  const running = await startWorkerd(await freePort(), source, {})
  try {
    await signIn(running, SIGN_INS) // with nobody watching
    const measured: number[] = []
    for (let run = 0; run < runs; run++) {
      const before = cpuTime(running.pid)
      await signIn(running, SIGN_INS)
      const after = cpuTime(running.pid)
      if (before !== null && after !== null) measured.push((after - before) / SIGN_INS)
    }
    const cpu = spread(measured)
    if (cpu === null) return 'a sign-in by password: this platform does not say what CPU time a process uses'
    const verdict = cpu.median < GOAL ? 'reached' : 'NOT reached'
    const figures = `${cpu.median.toFixed(2)} ms of CPU (${cpu.min.toFixed(2)} to ${cpu.max.toFixed(2)})`
    return `a sign-in by password, 2048 bits: ${figures}; under ${GOAL} ms: ${verdict}`
  } finally {
    await running.stop()
  }
}

async function signIn({ origin }: Running, times: number): Promise<void> {
  let left = times
  const one = async () => {
    while (left-- > 0) {
      const answer: unknown = await (await fetch(origin)).json()
      if (JSON.stringify(answer) !== '{"bits":2048,"M1":32}') throw new Error(`the Worker answered ${JSON.stringify(answer)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}
