/** What the operations of identity share. */
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
  /** Services for signing in, by name. */
  readonly services: ReadonlyMap<string, SignInService>
  /** For work that must not make answers slower if an account exists: sending messages. */
  readonly background: Background
  readonly log: Log
  readonly security: SecurityLog
  /** Who may register. */
  readonly registration: RegistrationRule
  /** An administrator's session without a verified second factor may only set one up. */
  readonly adminsNeedFactor: boolean
  readonly textMessages: TextMessageRules
  /** The country of phone numbers without a country code, ISO 3166. */
  readonly phoneRegion: string | undefined
  /** Epoch ms. */
  readonly now: () => number
}

/** The outcome of a counted attempt. */
export type Guarded = { readonly kind: 'right' } | { readonly kind: 'wrong' } | TooMany

/** Too many attempts in too short a time. */
export interface TooMany {
  readonly kind: 'too-many'
  readonly retryAfterMs: number
}
