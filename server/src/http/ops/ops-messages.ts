/** Messages between the thread that serves calls and the one that answers the operator. */
import type { TroubledChain } from '../chain-health.ts'
import type { Readiness } from './ops-source.ts'

export interface OpsThreadOptions {
  readonly host: string | undefined
  readonly port: number
  /** The serving thread's last beat: a `hrtime` in ns, and how late that beat was, in ms. */
  readonly beat: SharedArrayBuffer
  /** A process that is silent for longer counts as hung. */
  readonly hungAfterMs: number
}

export type Question = 'readiness' | 'metrics' | 'chains'

export type ToOps =
  | { readonly kind: 'known'; readonly id: number; readonly known: Known }
  | { readonly kind: 'close' }

export type Known =
  | { readonly what: 'readiness'; readonly readiness: Readiness }
  | { readonly what: 'metrics'; readonly text: string; readonly contentType: string }
  | { readonly what: 'chains'; readonly troubled: readonly TroubledChain[] }
  /** The answer could not be determined; the log says why. */
  | { readonly what: 'failed' }

export type FromOps =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'not-listening'; readonly error: ListenError }
  /** A connection came that the system could not hand over. */
  | { readonly kind: 'not-accepted'; readonly message: string }
  | { readonly kind: 'asked'; readonly id: number; readonly what: Question }
  | { readonly kind: 'closed' }

/** The members that explain a failed `listen`. */
export interface ListenError {
  readonly message: string
  readonly code: string | undefined
  readonly syscall: string | undefined
  readonly address: string | undefined
  readonly port: number | undefined
}
