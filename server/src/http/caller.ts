/** Who asks: what every route that wants to know is told. */
import type { Account, Key } from '../storage/storage.ts'

export type Caller = SessionCaller | KeyCaller

export interface SessionCaller {
  readonly kind: 'session'
  readonly session: { readonly id: string }
  readonly account: Account
}

export interface KeyCaller {
  readonly kind: 'key'
  readonly key: Key
  readonly account: Account
}
