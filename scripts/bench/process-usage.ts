import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** ms: what /proc counts CPU time in. Linux tells programs 100 ticks a second on every architecture Node runs on. */
const TICK = 10

const KIB = 1_024 // bytes: `kB` in /proc/<pid>/status

/** CPU time a process has used, all its threads, in milliseconds; null where there is no /proc. */
export function cpuTime(pid: number | null): number | null {
  const fields = statOf(pid)
  return fields === null ? null : (Number(fields[11]) + Number(fields[12])) * TICK // utime and stime
}

/** The most memory a process has held since it began or `resetPeakMemory`, in bytes; null where there is no /proc. */
export function peakMemory(pid: number | null): number | null {
  const [, kib] = /^VmHWM:\s+([0-9]+) kB$/m.exec(readProc(pid, 'status') ?? '') ?? []
  return kib === undefined ? null : Number(kib) * KIB
}

/** From now on the peak is of what comes. Without the right to say so it stays the peak since the process began. */
export function resetPeakMemory(pid: number | null): void {
  if (pid === null || process.platform !== 'linux') return
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // some containers forbid it
  }
}

/** The processes that a process has started, of one program; none where there is no /proc. */
export function childrenOf(parent: number, program: string): number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => Number(statOf(pid)?.[1]) === parent && readProc(pid, 'comm')?.trim() === program)
}

/** The fields of /proc/<pid>/stat after the program's name, which may hold anything: the first is the state. */
function statOf(pid: number | null): string[] | null {
  const text = readProc(pid, 'stat')
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function readProc(pid: number | null, file: string): string | null {
  if (pid === null || process.platform !== 'linux') return null
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null // it has ended
  }
}
