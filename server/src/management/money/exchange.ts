/** Manual exchange of balance into Credits (docs/reference/contract.md#5-35). Automatic exchange is part of calls. */
import type { DecimalText } from '../../core/catalogue.ts'
import { balancePool, creditsPool } from '../../core/ledger/ledger.ts'
import type { AccountId } from '../../core/ids.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import type { ActOutcome } from '../../storage/stores/customers.ts'
import type { Storage } from '../../storage/storage.ts'
import { type Asking, idempotencyOf } from '../acts.ts'
import { creditsText, yuanText } from './amounts.ts'
import { timeOrderedId } from '../new-id.ts'

export interface ExchangeRequest extends Asking {
  readonly accountId: AccountId
  /** Above 0. */
  readonly amount: MicroCredits
  readonly creditsPerUnit: DecimalText
}

/** The balance is too small. */
export interface ExchangeRefusal {
  readonly balance: MicroCredits
}

/** Moves the whole amount or nothing: both pools have the same unit, so no conversion can lose a part. */
export function exchangeBalance(
  storage: Pick<Storage, 'customers'>,
  request: ExchangeRequest,
): Promise<ActOutcome<ExchangeRefusal>> {
  const { accountId, amount, at, creditsPerUnit } = request
  const transactionId = timeOrderedId(at)
  return storage.customers.acts.perform<ExchangeRefusal>({
    accountId,
    operation: 'exchange',
    idempotency: idempotencyOf(request, [amount.toString()]),
    at,
    decide: ({ account }) => {
      if (account.balance < amount) return { kind: 'refused', refusal: { balance: account.balance } }
      const transfer = {
        transactionId,
        sequence: 0,
        at,
        debit: balancePool(accountId),
        credit: creditsPool(accountId),
        amount,
        kind: 'exchange',
        reference: 'manual',
      } as const
      return {
        kind: 'done',
        transfers: [transfer],
        answer: {
          id: transactionId,
          exchanged_yuan: yuanText(amount, creditsPerUnit),
          exchanged_credits: creditsText(amount),
          credits: creditsText(microCredits(account.credits - account.held + amount)),
          balance: yuanText(microCredits(account.balance - amount), creditsPerUnit),
        },
      }
    },
  })
}
