/** `sluice apply`, and the first start with a gateway file: what is written becomes what is stored. */
import { type LoadOptions, loadGatewayFile } from '../../config/gateway-file/load.ts'
import { namesAfter } from '../../config/gateway-file/check-rows.ts'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AccountFileRow, GatewayFile } from '../../config/gateway-file/gateway-file.ts'
import type { AccountId } from '../../core/ids.ts'
import { type OwnChange, ownChange, ownRateChange } from '../../core/pricing/currency.ts'
import { atOtherRate, isSameRate, type RateChange } from '../../core/pricing/own-rate.ts'
import type { Secret } from '../../core/secret.ts'
import { type RateHold, rateHoldText } from '../../storage/failures/amount-refused.ts'
import type { AuditedAct } from '../../storage/stores/audit.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { Storage } from '../../storage/storage.ts'
import { createAccount, eachAccount } from '../accounts/accounts.ts'
import { type Actor, auditedChanges } from '../admin/acts.ts'
import { type AccountState, readAccountStates } from './account-state.ts'
import type { Difference } from './difference.ts'
import { findLargeAmounts } from './large-amounts.ts'
import { type AccountPlan, type KeyStep, planAccount } from './plan-accounts.ts'
import { type CataloguePlan, planCatalogue } from './plan-catalogue.ts'
import { grantOpening } from '../money/grants.ts'
import { keyOf, makeKeySecret } from '../keys/keys.ts'
import { namedKeyId } from '../new-id.ts'
import { hashPassword } from '../accounts/passwords.ts'
import type { Account } from '../../storage/stores/accounts.ts'

export type ApplyOptions = Omit<LoadOptions, 'known'> & {
  /** Epoch ms. */
  readonly at: number
  /** `dry-run`: say what would change, and change nothing. */
  readonly mode: 'apply' | 'dry-run'
  /** What was looked at before; false: these are others, and nothing is written. Absent: nobody looked. */
  readonly isAsReviewed?: (differences: readonly Difference[]) => boolean
  /** For the audit log; absent: nobody acts, it is the first start. */
  readonly actor?: Actor
}

export type ApplyResult =
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }
  | {
      readonly kind: 'applied' | 'planned'
      /** Empty: all is as the file says. */
      readonly differences: readonly Difference[]
      /** Worth knowing, but no reason not to apply. */
      readonly warnings: readonly Mistake[]
      /** Keys made without a fixed secret: shown now or never. */
      readonly newKeys: readonly NewKey[]
    }

export interface NewKey {
  readonly account: string
  readonly name: string
  readonly plaintext: Secret
}

type GatewayStorage = Pick<Storage, 'catalogue' | 'accounts' | 'keys' | 'ledger' | 'audit'>

/** Reads, checks and compares first; writes only when the whole file is right. Applying it again changes nothing. */
export async function applyGatewayFile(storage: GatewayStorage, options: ApplyOptions): Promise<ApplyResult> {
  const known = await storage.catalogue.read()
  const loaded = loadGatewayFile({ ...options, known })
  if (loaded.kind === 'mistakes') return loaded
  const { file, warnings } = loaded
  const read = await readAccountStates(storage, file.accounts ?? [])
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
  const isAgreed = options.isAsReviewed?.(differences) ?? true
  if (options.mode === 'dry-run' || !isAgreed) return { kind: 'planned', differences, warnings, newKeys: [] }
  const newKeys = await write(storage, { catalogue, accounts, pruned, at, actor: options.actor })
  return { kind: 'applied', differences, warnings, newKeys }
}

/** A file that takes the last admin away is told before anything is written; the store refuses it too. */
async function findLostAdmins(
  storage: GatewayStorage,
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
    message: 'is the last active admin: make somebody else one before',
  }))
}

function rateMistake({ settings }: GatewayFile, change: OwnChange, hold: RateHold): Mistake {
  const written = change === 'rate' ? settings?.ratePlace : settings?.currencyPlace
  const place = written ?? { line: 1, column: 1, path: 'settings' }
  return { place, message: rateHoldText(hold) }
}

/** The account as it will be once the settings are put: the store takes what is set in money along. */
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

interface Work {
  readonly catalogue: CataloguePlan
  readonly accounts: readonly AccountPlan[]
  readonly pruned: readonly Account[]
  readonly at: number
  readonly actor: Actor | undefined
}

/**
 * The catalogue in one transaction, then account by account. Each step is complete in itself, so a process that dies
 * between two leaves what the next run goes on from.
 */
async function write(storage: GatewayStorage, work: Work): Promise<readonly NewKey[]> {
  await writeCatalogue(storage, work)
  const newKeys: NewKey[] = []
  const { keyPrefix } = work.catalogue.settings
  for (const plan of work.accounts) {
    const passwordHash = await hashOfPlan(plan)
    const written = await writeAccountStep(storage, plan, { passwordHash, keyPrefix, ...work })
    newKeys.push(...written.newKeys)
  }
  for (const account of work.pruned) await suspend(storage, account, work.actor)
  return newKeys
}

async function writeCatalogue(storage: GatewayStorage, { catalogue, actor }: Work): Promise<void> {
  const { changes, differences } = catalogue
  if (changes.length === 0) return
  if (actor === undefined) {
    await storage.catalogue.apply(changes)
    return
  }
  await storage.audit.act(async (stores) => {
    await stores.catalogue.apply(changes)
    const act = { at: actor.at, actor, action: 'file.apply', subject: 'catalogue' }
    return { value: undefined, act: { ...act, changes: auditedChanges(differences) } }
  })
}

/** The account and its entry in one transaction, as when an admin changes it. */
async function writeAccountStep(
  storage: GatewayStorage,
  plan: AccountPlan,
  { actor, ...writing }: Omit<PlanWriting, 'conflicts'> & Pick<Work, 'actor'>,
): Promise<WrittenAccount> {
  if (actor === undefined) return writeAccountPlan(storage, plan, { ...writing, conflicts: 'join' })
  const actOf = ({ id }: WrittenAccount): AuditedAct | undefined => {
    if (plan.differences.length === 0) return undefined
    const action = plan.account === undefined ? 'account.create' : 'account.change'
    return { at: actor.at, actor, action, subject: id, changes: auditedChanges(plan.differences) }
  }
  try {
    return await storage.audit.act(async (stores) => {
      const written = await writeAccountPlan(stores, plan, { ...writing, conflicts: 'rise' })
      return { value: written, act: actOf(written) }
    })
  } catch (error) {
    if (!(error instanceof StorageConflict)) throw error
    // Somebody made the same account or key in this moment, which ends a transaction: each step by itself finds it.
    const written = await writeAccountPlan(storage, plan, { ...writing, conflicts: 'join' })
    const act = actOf(written)
    if (act !== undefined) await storage.audit.record(act)
    return written
  }
}

async function suspend(
  storage: GatewayStorage,
  { id, status }: Account,
  actor: Actor | undefined,
): Promise<void> {
  const patch = { status: 'suspended' } as const
  if (actor === undefined) {
    await storage.accounts.patch(id, patch)
    return
  }
  await storage.audit.act(async (stores) => {
    await stores.accounts.patch(id, patch)
    const changes = [{ field: 'status', from: status, to: patch.status }]
    return {
      value: undefined,
      act: { at: actor.at, actor, action: 'account.suspend', subject: id, changes },
    }
  })
}

/** Made before anything is written: hashing takes its time on purpose. undefined: the password stays as it is. */
export async function hashOfPlan({ password }: AccountPlan): Promise<string | undefined> {
  return password === undefined ? undefined : await hashPassword(password)
}

export interface PlanWriting {
  /** What to do when another made the same account or key in this moment: within a transaction it must rise. */
  readonly conflicts: 'rise' | 'join'
  readonly passwordHash: string | undefined
  readonly keyPrefix: string
  /** Epoch ms. */
  readonly at: number
}

export interface WrittenAccount {
  readonly id: AccountId
  readonly newKeys: readonly NewKey[]
}

/** One account with its opening, own credentials and keys. */
export async function writeAccountPlan(
  storage: AccountStorage,
  plan: AccountPlan,
  writing: PlanWriting,
): Promise<WrittenAccount> {
  const { keyPrefix, at, conflicts } = writing
  const id = await writeAccount(storage, plan, writing)
  const newKeys: NewKey[] = []
  if (plan.opening !== undefined) await grantOpening(storage, id, plan.opening, at)
  for (const { vendor, secret, enabled } of plan.byok) {
    await storage.accounts.putByok(id, vendor, secret, { enabled })
  }
  for (const step of plan.keys) {
    const made = await writeKey(storage, step, { id, keyPrefix, at, conflicts })
    if (made !== undefined) newKeys.push({ account: plan.label, ...made })
  }
  return { id, newKeys }
}

type AccountStorage = Pick<Storage, 'accounts' | 'keys' | 'ledger'>

async function writeAccount(
  storage: AccountStorage,
  plan: AccountPlan,
  { passwordHash, at, conflicts }: PlanWriting,
): Promise<AccountId> {
  const fields = { ...plan.fields, ...(passwordHash === undefined ? {} : { passwordHash }) }
  if (plan.account !== undefined) {
    if (Object.keys(fields).length > 0) await storage.accounts.patch(plan.account.id, fields)
    return plan.account.id
  }
  try {
    return await createAccount(storage, fields, at)
  } catch (error) {
    if (conflicts === 'rise' || !(error instanceof StorageConflict)) throw error
    const found = await findWritten(storage, plan)
    if (found === undefined) throw error
    return found.id
  }
}

/** Instances that start at once with one file meet here: the second finds the account the first has just made. */
async function findWritten(storage: AccountStorage, { fields }: AccountPlan): Promise<Account | undefined> {
  const { email, phone } = fields ?? {}
  if (email !== undefined) return storage.accounts.findByLogin({ email })
  return phone === undefined ? undefined : storage.accounts.findByLogin({ phone })
}

interface KeyOwner {
  readonly id: AccountId
  readonly keyPrefix: string
  readonly at: number
  readonly conflicts: PlanWriting['conflicts']
}

/** Gives the key when it was made here and has to be shown. */
async function writeKey(
  storage: AccountStorage,
  step: KeyStep,
  owner: KeyOwner,
): Promise<Omit<NewKey, 'account'> | undefined> {
  if (step.kind === 'patch') {
    await storage.keys.patch(step.id, step.patch)
    return undefined
  }
  const { name } = step.key
  const plaintext = step.secret ?? makeKeySecret(owner.keyPrefix)
  const request = { ...step.key, secret: plaintext, accountId: owner.id }
  const key = keyOf(request, plaintext, owner.keyPrefix, owner.at)
  try {
    await storage.keys.create({ ...key, id: namedKeyId(owner.id, name) })
  } catch (error) {
    if (owner.conflicts === 'rise' || !(error instanceof StorageConflict)) throw error
    const living = await storage.keys.list(owner.id)
    // Made in this moment by another instance, which shows it.
    if (living.some((one) => one.name === name)) return undefined
    // A deleted key of this name keeps its id for the log's sake.
    await storage.keys.create(key)
  }
  return step.secret === undefined ? { name, plaintext } : undefined
}

/** Admins are never suspended by leaving them out: nobody should lock themselves out with a shorter file. */
async function accountsToSuspend(
  storage: GatewayStorage,
  file: GatewayFile,
  plans: readonly AccountPlan[],
): Promise<readonly Account[]> {
  if (file.accounts === undefined) return []
  const mentioned = new Set(plans.map((plan) => plan.account?.id))
  const missing: Account[] = []
  for await (const account of eachAccount(storage)) {
    // Organisations stand in no file: their members run them.
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
