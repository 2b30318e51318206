/**
 * Whether a process that wrote to this file is still running. All processes that open an embedded database are on this
 * machine, so after a crash there is no need to wait for a heartbeat to expire. If the system cannot tell (another
 * system than Linux, another container, another boot), nothing is concluded and the heartbeat decides.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { codeOf } from '../../core/errors/error-code.ts'

/** Start time of a process, in the system's own ticks, by its `/proc/<pid>/stat`. */
const START_TIME_FIELD = 22

/** This process, as named in its rows; undefined: the system cannot tell. */
export function ownPlace(): string | undefined {
  const scope = ownScope()
  const started = startOf(process.pid)
  return scope === undefined || started === undefined ? undefined : `${scope}/${process.pid}/${started}`
}

/** Queries to the system about a process; tests replace it. */
export interface ProcessTable {
  /** Start time in the system's own ticks; undefined: unknown, which says nothing about the process. */
  startOf(pid: number): string | undefined
  exists(pid: number): boolean
}

/** True only if the process has certainly ended: no process has its id, or the one that has it started at another time. */
export function isGone(place: string, table: ProcessTable = SYSTEM): boolean {
  const [boot = '', namespace = '', pid, started] = place.split('/')
  if (pid === undefined || started === undefined || `${boot}/${namespace}` !== ownScope()) return false
  if (!table.exists(Number(pid))) return true
  const found = table.startOf(Number(pid))
  return found !== undefined && found !== started
}

const SYSTEM: ProcessTable = {
  startOf,
  exists(pid) {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      // Any other error, such as for a process of another user, means that it exists.
      return codeOf(error) !== 'ESRCH'
    }
  },
}

/** The namespace in which process ids are comparable. */
function ownScope(): string | undefined {
  const boot = readIfThere(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = readIfThere(() => readlinkSync('/proc/self/ns/pid'))
  return boot === undefined || namespace === undefined ? undefined : `${boot}/${namespace}`
}

function startOf(pid: number): string | undefined {
  const stat = readIfThere(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The second field is the program's name in brackets and may hold spaces and brackets.
  return stat
    ?.slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .at(START_TIME_FIELD - 3)
}

function readIfThere(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined
    throw error
  }
}
