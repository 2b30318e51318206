/** Who is at the other end: what the acts of identity share. */
import type { Messenger } from '../../notify/messenger.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Background } from '../../telemetry/background.ts'
import type { Log } from '../../telemetry/log.ts'
import type { SecurityLog } from '../../telemetry/security-log.ts'
import type { RegistrationRule } from '../../config/environment-variables.ts'
import type { SignInService } from './services/service.ts'
import type { TextMessageRules } from './messages/text-message-rules.ts'

export interface Identity {
  readonly storage: Pick<Storage, 'accounts' | 'identity' | 'organisations' | 'audit'>
  readonly messenger: Messenger
  /** Other services one may sign in through, by name. */
  readonly services: ReadonlyMap<string, SignInService>
  /** For what must not make an answer slower where an account exists: sending messages. */
  readonly background: Background
  readonly log: Log
  readonly security: SecurityLog
  /** Who may make an account by themselves. */
  readonly registration: RegistrationRule
  /** An administrator's session that has shown no second factor may set one up and nothing else. */
  readonly adminsNeedFactor: boolean
  readonly textMessages: TextMessageRules
  /** The country of phone numbers written without one, ISO 3166. */
  readonly phoneRegion: string | undefined
  /** Epoch ms. */
  readonly now: () => number
}

/** How a counted try ended. */
export type Guarded = { readonly kind: 'right' } | { readonly kind: 'wrong' } | TooMany

/** Somebody did too much in too short a time. */
export interface TooMany {
  readonly kind: 'too-many'
  readonly retryAfterMs: number
}
