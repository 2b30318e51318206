/** The catalogue as it is kept. */
import type { Catalogue } from '../../core/catalogue.ts'
import type { CatalogueChange } from './records.ts'
import type { RateHold } from '../failures/amount-refused.ts'
import type { ChainId } from '../../core/ids.ts'
import type { ChainObservation } from '../../core/metering/chain-observation.ts'

export interface CatalogueStore {
  read(): Promise<Catalogue>
  /**
   * One transaction; announces `catalogue`. Rows are matched by natural key. Another rate of the platform's own currency takes
   * what is set in it along (caps, steps, packages); that and another currency reject with `RateFixed` once money was booked
   * or promised.
   */
  apply(changes: readonly CatalogueChange[]): Promise<void>
  /** What keeps the platform's own currency, or its rate, as it is; undefined: nothing does. */
  findRateHold(what: 'rate' | 'currency'): Promise<RateHold | undefined>
  /** What was seen of chains, by whichever instance. */
  readObservations(): Promise<readonly ObservedChain[]>
  /** The latest rate of a chain counts, and the latest time it broke a cap. */
  writeObservations(observed: readonly ObservedChain[], at: number): Promise<void>
}

export interface ObservedChain {
  readonly chainId: ChainId
  readonly observation: ChainObservation
}
