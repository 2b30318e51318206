/** The catalogue as it is stored. */
import type { Catalogue } from '../../core/catalogue.ts'
import type { CatalogueChange } from './records.ts'
import type { RateHold } from '../failures/amount-refused.ts'
import type { ChainId } from '../../core/ids.ts'
import type { ChainObservation } from '../../core/metering/chain-observation.ts'

export interface CatalogueStore {
  read(): Promise<Catalogue>
  /**
   * One transaction; announces `catalogue`. Rows are matched by natural key. A changed rate of the platform's own
   * currency converts amounts set in it (caps, steps, packages); a changed rate or currency rejects with `RateFixed` once
   * money was booked or promised.
   */
  apply(changes: readonly CatalogueChange[]): Promise<void>
  /** What prevents a change of the platform's own currency or its rate; undefined: nothing. */
  findRateHold(what: 'rate' | 'currency'): Promise<RateHold | undefined>
  /** Observations of chains, by any instance. */
  readObservations(): Promise<readonly ObservedChain[]>
  /** The latest rate of a chain counts, and the latest time it exceeded a cap. */
  writeObservations(observed: readonly ObservedChain[], at: number): Promise<void>
}

export interface ObservedChain {
  readonly chainId: ChainId
  readonly observation: ChainObservation
}
