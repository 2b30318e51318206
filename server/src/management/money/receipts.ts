/**
 * Payments are confirmed by mail. A receipt is recorded in the transaction that books the payment and is sent with the
 * alerts, so each payment has exactly one, however often a provider reports it and even if an instance ends in between.
 */
import type { AccountId } from '../../core/ids.ts'
import type { Messenger } from '../../notify/messenger.ts'
import type { AlertFacts } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { timeOrderedId } from '../new-id.ts'
import { mailsOf } from '../organisations/organisations.ts'

/** `none`: mail is not configured, so nothing is recorded. */
export type Receipts = 'mailed' | 'none'

export function receiptsOf(messenger: Pick<Messenger, 'leaves'>): Receipts {
  return messenger.leaves('email') ? 'mailed' : 'none'
}

export interface Receipt {
  readonly accountId: AccountId
  /** When it was paid. */
  readonly at: number
  readonly facts: ReceiptFacts
}

export interface ReceiptFacts extends AlertFacts {
  /** Id of the top-up, or of the ledger's transaction. */
  readonly reference: string
  /** What was bought: a package, an amount of balance, a plan. */
  readonly item: string
  /** With its unit: `100 CNY`, `5000 Credits`. */
  readonly paid: string
}

/** @param stores those of the transaction that books the payment */
export async function noteReceipt(
  stores: Pick<Storage, 'accounts' | 'customers' | 'organisations'>,
  { accountId, at, facts }: Receipt,
): Promise<void> {
  const account = await stores.accounts.find(accountId)
  const profile = await stores.customers.profiles.find(accountId)
  if (account === undefined || profile?.alerts.receipts === false) return
  const deliveries = (await mailsOf(stores, account)).map((target) => ({
    id: `delivery_${timeOrderedId(at)}`,
    channel: 'email' as const,
    target,
  }))
  if (deliveries.length === 0) return
  const alert = { id: `alert_${timeOrderedId(at)}`, accountId, kind: 'receipt', raisedAt: at, facts } as const
  await stores.customers.alerts.raise(alert, deliveries)
  // A receipt is momentary, so it is cleared at once to allow the next one.
  await stores.customers.alerts.clear(accountId, 'receipt', at)
}
