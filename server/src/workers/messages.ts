/** Messages between the first process and a worker. */
import type { TroubledChain } from '../http/chain-health.ts'
import type { Readiness } from '../http/ops/ops-source.ts'

export type ToWorker = { readonly kind: 'look'; readonly id: number } | { readonly kind: 'stop' }

export type FromWorker =
  /** Sent every second. */
  | { readonly kind: 'beat' }
  | { readonly kind: 'ready'; readonly baseUrl: string; readonly gatewayBaseUrl: string }
  | {
      readonly kind: 'look'
      readonly id: number
      readonly readiness: Readiness
      /** Prometheus text form. */
      readonly metrics: string
      readonly troubledChains: readonly TroubledChain[]
    }
