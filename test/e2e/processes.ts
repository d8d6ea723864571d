import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

interface Process {
  pid: number
  parent: number
  /** It has ended, and its parent has not asked how: no container's first process does. */
  zombie: boolean
}

/** Every program a process has started, and they in turn. */
export async function descendants(ancestor: number | undefined): Promise<number[]> {
  const all = await processes()
  const found = [ancestor]
  for (const pid of found) found.push(...all.filter(({ parent }) => parent === pid).map((child) => child.pid))
  return found.slice(1).filter((pid) => pid !== undefined)
}

/** Those of them that have not ended. */
export async function running(pids: readonly number[]): Promise<number[]> {
  const all = await processes()
  return pids.filter((pid) => all.some((process) => process.pid === pid && !process.zombie))
}

async function processes(): Promise<Process[]> {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs()
}

async function fromProc(): Promise<Process[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')))
  return lines.flatMap((line) => {
    // proc(5): pid (command) state parent; a command may hold brackets itself
    const [, pid, state, parent] = /^(\d+) \(.*\) (\S) (\d+)/s.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), zombie: state === 'Z' }]
  })
}

async function fromPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='])
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/)
    return state === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), zombie: state.startsWith('Z') }]
  })
}
