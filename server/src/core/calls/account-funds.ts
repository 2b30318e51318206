import type { AccountRow } from '../ledger/hot-rows.ts'

/** The part of an account that calls change. */
export type AccountFunds = Pick<
  AccountRow,
  'credits' | 'held' | 'balance' | 'owed' | 'monthStart' | 'monthSpent' | 'monthHeld'
>

/** Field by field: a spread of this many fields costs microseconds, and every call changes its account twice. */
export function withFunds(account: AccountRow, funds: AccountFunds): AccountRow {
  return {
    id: account.id,
    status: account.status,
    verification: account.verification,
    userRate: account.userRate,
    credits: funds.credits,
    held: funds.held,
    balance: funds.balance,
    owed: funds.owed,
    apiDeduction: account.apiDeduction,
    monthlyCap: account.monthlyCap,
    monthStart: funds.monthStart,
    monthSpent: funds.monthSpent,
    monthHeld: funds.monthHeld,
    autoExchange: account.autoExchange,
    subscription: account.subscription,
    policy: account.policy,
    byokVendors: account.byokVendors,
  }
}

export function fundsOf({
  credits,
  held,
  balance,
  owed,
  monthStart,
  monthSpent,
  monthHeld,
}: AccountRow): AccountFunds {
  return { credits, held, balance, owed, monthStart, monthSpent, monthHeld }
}
