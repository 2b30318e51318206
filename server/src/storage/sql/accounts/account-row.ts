/** Accounts between their table and `AccountRow`. */
import type { AccountRow, Subscription } from '../../../core/ledger/hot-rows.ts'
import { accountId, modelId, type VendorCode } from '../../../core/ids.ts'
import type { Policy } from '../../../core/limits/policy.ts'
import { type MicroCredits, microCredits } from '../../../core/money.ts'
import { memoizeByText, parseStored } from '../stored-json.ts'
import { integerOf, numberOf, optionalTextOf, type StoredRow, type Table, textOf } from '../table.ts'
import type { Account } from '../../stores/accounts.ts'

/** What a hot batch reads of an account. */
export const HOT_ACCOUNT_COLUMNS = [
  'id',
  'status',
  'verification',
  'user_rate',
  'credits',
  'held',
  'balance',
  'owed',
  'api_deduction',
  'monthly_cap',
  'month_start',
  'month_spent',
  'month_held',
  'auto_exchange',
  'subscription',
  'policy',
  'byok_vendors',
] as const

/** What a hot batch writes of an account: money only, so that it never overwrites a change of the management API. */
export const accountMoney: Table<AccountRow> = {
  name: 'accounts',
  columns: {
    id: 'text',
    credits: 'integer',
    held: 'integer',
    balance: 'integer',
    owed: 'integer',
    month_start: 'integer',
    month_spent: 'integer',
    month_held: 'integer',
  },
  encode: (account) => [
    account.id,
    account.credits,
    account.held,
    account.balance,
    account.owed,
    account.monthStart,
    account.monthSpent,
    account.monthHeld,
  ],
}

export function decodeAccountRow(row: StoredRow): AccountRow {
  const subscription = optionalTextOf(row, 'subscription')
  return {
    id: accountId(textOf(row, 'id')),
    status: textOf(row, 'status') === 'active' ? 'active' : 'suspended',
    verification: numberOf(row, 'verification'),
    userRate: textOf(row, 'user_rate'),
    credits: money(row, 'credits'),
    held: money(row, 'held'),
    balance: money(row, 'balance'),
    owed: money(row, 'owed'),
    apiDeduction: numberOf(row, 'api_deduction') === 1,
    monthlyCap: money(row, 'monthly_cap'),
    monthStart: numberOf(row, 'month_start'),
    monthSpent: money(row, 'month_spent'),
    monthHeld: money(row, 'month_held'),
    autoExchange: decodeAutoExchange(textOf(row, 'auto_exchange')),
    subscription: subscription === undefined ? undefined : decodeSubscription(subscription),
    policy: decodePolicy(textOf(row, 'policy')),
    byokVendors: decodeVendors(textOf(row, 'byok_vendors')),
  }
}

export function decodeAccount(row: StoredRow): Account {
  const fallback = optionalTextOf(row, 'fallback_model')
  return {
    ...decodeAccountRow(row),
    kind: textOf(row, 'kind') === 'organisation' ? 'organisation' : 'person',
    email: optionalTextOf(row, 'email'),
    phone: optionalTextOf(row, 'phone'),
    passwordHash: optionalTextOf(row, 'password_hash'),
    role: textOf(row, 'role') === 'admin' ? 'admin' : 'user',
    fallbackModel: fallback === undefined ? undefined : modelId(fallback),
    createdAt: numberOf(row, 'created_at'),
  }
}

export const decodePolicy = memoizeByText((text) => parseStored<Policy>(text))
const decodeVendors = memoizeByText((text) => parseStored<readonly VendorCode[]>(text))

export function encodeAutoExchange(value: AccountRow['autoExchange']): string {
  return JSON.stringify({
    enabled: value.enabled,
    belowCredits: value.belowCredits.toString(),
    step: value.step.toString(),
  })
}

export const decodeAutoExchange = memoizeByText((text): AccountRow['autoExchange'] => {
  const stored = parseStored<{ enabled: boolean; belowCredits: string; step: string }>(text)
  return {
    enabled: stored.enabled,
    belowCredits: microCredits(BigInt(stored.belowCredits)),
    step: microCredits(BigInt(stored.step)),
  }
})

export function encodeSubscription(value: Subscription): string {
  const quota = value.quota.map(({ credits, seconds }) => ({ credits: credits.toString(), seconds }))
  return JSON.stringify({ ...value, quota })
}

const decodeSubscription = memoizeByText((text): Subscription => {
  const stored = parseStored<
    Omit<Subscription, 'quota'> & { quota: readonly { credits: string; seconds: number }[] }
  >(text)
  const quota = stored.quota.map(({ credits, seconds }) => ({
    credits: microCredits(BigInt(credits)),
    seconds,
  }))
  return { ...stored, quota }
})

function money(row: StoredRow, column: string): MicroCredits {
  return microCredits(integerOf(row, column))
}
