/** As much of a tick's slice as a refresh works with (src/ticks/tick.ts). */
export interface RefreshSlice {
  signal: AbortSignal
  check(): void
  budget: { left(): number; spend(calls: number): void }
  report(details: Readonly<Record<string, unknown>>): void
  /** unix ms */
  deadline: number
}
