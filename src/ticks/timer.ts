/** Runs something later, once. */
export interface Timer {
  /** @returns what cancels it; once it ran, or again, that does nothing */
  after(ms: number, run: () => void): () => void
}

export const platformTimer: Timer = {
  after(ms, run) {
    const id = setTimeout(run, ms)
    return () => clearTimeout(id)
  },
}

/** Resolves when the work does, or after so many milliseconds without it. */
export async function atMost(timer: Timer, ms: number, work: Promise<void>): Promise<void> {
  let cancel = () => {}
  const over = new Promise<void>((resolve) => {
    cancel = timer.after(ms, resolve)
  })
  try {
    await Promise.race([work, over])
  } finally {
    cancel()
  }
}

export function sleep(timer: Timer, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timer.after(ms, resolve)
  })
}
