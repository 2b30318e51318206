import type { Actor } from '../management/admin/acts.ts'
import type { Console } from './console.ts'

/** The actor of the command line, for the audit log: anyone who can read the database and its key. */
export function commandLineActor(io: Pick<Console, 'now'>): Actor {
  return {
    at: io.now(),
    accountId: undefined,
    name: 'command line',
    sessionId: undefined,
    address: 'local',
    requestId: undefined,
  }
}
