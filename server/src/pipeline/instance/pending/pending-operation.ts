/** The end of a call that the store has not recorded yet. */
import type { SettleOperation, AbandonOperation } from '../../../core/ledger/operations.ts'

export type PendingOperation = SettleOperation | AbandonOperation | LostReservation

/**
 * A reservation that may have been made or may still be made. Its log row is written first, so that a reservation still
 * in progress finds its call ended; then whatever it took is given back.
 */
export interface LostReservation extends Omit<AbandonOperation, 'kind'> {
  readonly kind: 'lost-reservation'
}
