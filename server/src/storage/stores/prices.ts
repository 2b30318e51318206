/** Prices other than the current ones: future prices, and what chains cost the operator. */
import type { Pricing } from '../../core/catalogue.ts'
import type { ChainId, ModelId } from '../../core/ids.ts'

/** A model's prices from a given time on. */
export interface PriceChange {
  readonly id: string
  readonly modelId: ModelId
  /** Epoch ms. */
  readonly effectiveAt: number
  readonly pricing: Pricing
  readonly status: 'pending' | 'applied' | 'cancelled'
  readonly createdAt: number
  /** Account id of the admin. */
  readonly createdBy: string
}

export interface PriceStore {
  /** Earliest first; all of them, or one model's, or only pending ones. */
  list(filter: {
    readonly modelId?: ModelId
    readonly status?: PriceChange['status']
    readonly limit: number
  }): Promise<readonly PriceChange[]>
  find(id: string): Promise<PriceChange | undefined>
  /** Rejects with `StorageConflict` if another one of the model is pending for that time. */
  schedule(change: PriceChange): Promise<void>
  /** False: it is not pending any more. */
  settle(id: string, status: 'applied' | 'cancelled'): Promise<boolean>
  /** Pending ones that are due, the earliest first. */
  due(at: number, limit: number): Promise<readonly PriceChange[]>
  /** What the operator pays upstream for a chain, in the form of the model's prices. */
  costs(): Promise<ReadonlyMap<ChainId, Pricing>>
  /** undefined: not known. */
  putCost(chain: ChainId, pricing: Pricing | undefined): Promise<void>
}
