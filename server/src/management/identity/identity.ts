/** Who is at the other end: what the acts of identity share. */
import type { Storage } from '../../storage/storage.ts'
import type { Background } from '../../telemetry/background.ts'
import type { Log } from '../../telemetry/log.ts'

export interface Identity {
  readonly storage: Pick<Storage, 'accounts' | 'identity'>
  /** For what must not make an answer slower where an account exists: sending messages. */
  readonly background: Background
  readonly log: Log
  /** Epoch ms. */
  readonly now: () => number
}
