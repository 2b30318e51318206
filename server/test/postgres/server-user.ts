/** PostgreSQL refuses to run as root; then it runs as a user the host already has, and nothing of the host is changed. */
import { readFileSync } from 'node:fs'

export interface ServerUser {
  /** Options for starting a process as this user. */
  readonly spawn: { readonly uid?: number; readonly gid?: number }
}

export function chooseServerUser(): ServerUser {
  if (process.getuid === undefined || process.getuid() !== 0) return { spawn: {} }
  // initdb looks its user up, so a number without an entry would not do.
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0)
  const chosen = entries.find(({ name }) => name === 'nobody') ?? entries[0]
  if (chosen === undefined) throw new Error('/etc/passwd names no user but root to run PostgreSQL as')
  return { spawn: { uid: chosen.uid, gid: chosen.gid } }
}
