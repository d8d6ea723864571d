const MINUTE = 60_000 // ms: the one cron expression of wrangler.toml

/** Does what Cloudflare would: calls the scheduled handler at once and at the start of every minute. Answers how to stop. */
export function everyMinute(origin: string, failed: (message: string) => void): () => void {
  let timer: NodeJS.Timeout
  const poke = async () => {
    timer = setTimeout(poke, MINUTE - (Date.now() % MINUTE))
    const trouble = await callScheduled(origin)
    if (trouble !== null) failed(trouble)
  }
  void poke()
  return () => clearTimeout(timer)
}

async function callScheduled(origin: string): Promise<string | null> {
  try {
    const url = `${origin}/cdn-cgi/local/scheduled?cron=${encodeURIComponent('* * * * *')}`
    const response = await fetch(url, { signal: AbortSignal.timeout(MINUTE / 2) })
    const said = await response.text()
    return response.ok ? null : `the scheduled handler answered ${response.status}: ${said}`
  } catch (error) {
    return `the scheduled handler could not be called: ${error instanceof Error ? error.message : String(error)}`
  }
}
