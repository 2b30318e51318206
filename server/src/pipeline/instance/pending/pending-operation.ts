/** The end of a call that the store could not take yet. */
import type { SettleOperation, AbandonOperation } from '../../../core/ledger/operations.ts'

export type PendingOperation = SettleOperation | AbandonOperation | LostReservation

/**
 * A reservation that may have been made or may still be made. First its log row is written, so that one still on its way
 * finds its call ended, then whatever it took is given back.
 */
export interface LostReservation extends Omit<AbandonOperation, 'kind'> {
  readonly kind: 'lost-reservation'
}
