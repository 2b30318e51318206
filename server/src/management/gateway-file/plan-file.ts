/** Compares a whole gateway file with what is stored: its mistakes, or everything that applying it would write. */
import { say } from '../../core/sentences/say.ts'
import { namesAfter } from '../../config/gateway-file/check-rows.ts'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AccountFileRow, GatewayFile } from '../../config/gateway-file/gateway-file.ts'
import { type LoadOptions, loadGatewayFile } from '../../config/gateway-file/load.ts'
import { type OwnChange, ownChange, ownRateChange } from '../../core/pricing/currency.ts'
import { atOtherRate, isSameRate, type RateChange } from '../../core/pricing/own-rate.ts'
import { type RateHold, rateHoldText } from '../../storage/failures/amount-refused.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import { eachAccount } from '../accounts/accounts.ts'
import { type AccountState, type PasswordCheck, readAccountStates } from './account-state.ts'
import type { Difference } from './difference.ts'
import { findLargeAmounts } from './large-amounts.ts'
import { type AccountPlan, planAccount } from './plan-accounts.ts'
import { type CataloguePlan, planCatalogue } from './plan-catalogue.ts'

export type FileOptions = Omit<LoadOptions, 'known'> & {
  /** Epoch ms. */
  readonly at: number
}

export interface FilePlan {
  readonly kind: 'planned'
  readonly catalogue: CataloguePlan
  readonly accounts: readonly AccountPlan[]
  /** Accounts missing from a complete file, so they are suspended. */
  readonly pruned: readonly Account[]
  /** Empty: everything is as in the file. */
  readonly differences: readonly Difference[]
  /** Warnings that do not prevent applying. */
  readonly warnings: readonly Mistake[]
}

export type PlanStorage = Pick<Storage, 'catalogue' | 'accounts' | 'keys' | 'ledger'>

/** Only reads. `isPasswordKept` is called for each account with a password in the file. */
export async function planFile(
  storage: PlanStorage,
  options: FileOptions,
  isPasswordKept: PasswordCheck,
): Promise<FilePlan | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }> {
  const known = await storage.catalogue.read()
  const loaded = loadGatewayFile({ ...options, known })
  if (loaded.kind === 'mistakes') return loaded
  const { file, warnings } = loaded
  const read = await readAccountStates(storage, file.accounts ?? [], isPasswordKept)
  if (read.kind === 'mistakes') return read
  const { missing, at } = options
  const names = namesAfter(file, { known, missing })
  const catalogue = planCatalogue({ file, stored: known, names, missing })
  const change = ownChange(known.settings, catalogue.settings)
  const hold = change === undefined ? undefined : await storage.catalogue.findRateHold(change)
  if (change !== undefined && hold !== undefined)
    return { kind: 'mistakes', mistakes: [rateMistake(file, change, hold)] }
  const rate = ownRateChange(known.settings, catalogue.settings)
  const states = read.states.map((state) => stateAtRate(state, rate))
  const planned = states.map((state) => ({
    row: state.row,
    plan: planAccount(state, { ...catalogue, missing, at }),
  }))
  const large = planned.flatMap(({ row, plan }) => findLargeAmounts(row, plan))
  if (large.length > 0) return { kind: 'mistakes', mistakes: large }
  const orphaned = await findLostAdmins(storage, planned)
  if (orphaned.length > 0) return { kind: 'mistakes', mistakes: orphaned }
  const accounts = planned.map(({ plan }) => plan)
  const pruned = missing === 'prune' ? await accountsToSuspend(storage, file, accounts) : []
  const differences = [
    ...catalogue.differences,
    ...accounts.flatMap((plan) => plan.differences),
    ...pruned.map(suspension),
  ]
  return { kind: 'planned', catalogue, accounts, pruned, differences, warnings }
}

/** A file that would remove the last admin is refused before anything is written; the store refuses it too. */
async function findLostAdmins(
  storage: PlanStorage,
  planned: readonly { readonly row: AccountFileRow; readonly plan: AccountPlan }[],
): Promise<readonly Mistake[]> {
  const leaving = planned.filter(
    ({ plan: { account, fields } }) =>
      account?.role === 'admin' &&
      account.status === 'active' &&
      (fields?.role === 'user' || fields?.status === 'suspended'),
  )
  if (leaving.length === 0) return []
  const known = await storage.accounts.list({
    role: 'admin',
    status: 'active',
    limit: leaving.length + 1,
    after: undefined,
  })
  const gone = new Set(leaving.map(({ plan }) => plan.account?.id))
  if (known.some(({ id }) => !gone.has(id))) return []
  return leaving.map(({ row }) => ({
    place: row.place,
    message: say('last-admin'),
  }))
}

function rateMistake({ settings }: GatewayFile, change: OwnChange, hold: RateHold): Mistake {
  const written = change === 'rate' ? settings?.ratePlace : settings?.currencyPlace
  const place = written ?? { line: 1, column: 1, path: 'settings' }
  return { place, message: rateHoldText(hold) }
}

/** The account as it will be after the settings are written: the store converts its amounts set in money. */
function stateAtRate(state: AccountState, rate: RateChange): AccountState {
  const { account } = state
  if (account === undefined || isSameRate(rate.from, rate.to)) return state
  const { autoExchange, monthlyCap } = account
  const step = atOtherRate(autoExchange.step, rate)
  return {
    ...state,
    account: {
      ...account,
      monthlyCap: atOtherRate(monthlyCap, rate),
      autoExchange: { ...autoExchange, step },
    },
  }
}

/** Admins are never suspended by leaving them out: a shorter file must not lock its author out. */
async function accountsToSuspend(
  storage: PlanStorage,
  file: GatewayFile,
  plans: readonly AccountPlan[],
): Promise<readonly Account[]> {
  if (file.accounts === undefined) return []
  const mentioned = new Set(plans.map((plan) => plan.account?.id))
  const missing: Account[] = []
  for await (const account of eachAccount(storage)) {
    // Organisations are not in files: their members manage them.
    const spared =
      mentioned.has(account.id) ||
      account.kind === 'organisation' ||
      account.role === 'admin' ||
      account.status === 'suspended'
    if (!spared) missing.push(account)
  }
  return missing
}

function suspension(account: Account): Difference {
  return {
    action: 'disable',
    what: 'account',
    name: account.email ?? account.phone ?? account.id,
    fields: [],
  }
}
