/** Writes one account of a gateway file: the account, its opening, own credentials and keys. */
import type { AccountId } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import { createAccount } from '../accounts/accounts.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { keyOf, makeKeySecret } from '../keys/keys.ts'
import { grantOpening } from '../money/grants.ts'
import { namedKeyId } from '../new-id.ts'
import type { AccountPlan, KeyStep } from './plan-accounts.ts'

/** A key created with a random secret, which can only be shown now. */
export interface NewKey {
  /** The account's name in the file. */
  readonly account: string
  readonly name: string
  readonly plaintext: Secret
}

/** Computed before anything is written, because hashing is deliberately slow. undefined: the password is unchanged. */
export async function hashOfPlan({ password }: AccountPlan): Promise<string | undefined> {
  return password === undefined ? undefined : await hashPassword(password)
}

export interface PlanWriting {
  /**
   * What to do if the same account or key was created at the same moment: within a transaction the error must be
   * thrown.
   */
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

/** If instances start at once with the same file, the second one finds the account that the first has just created. */
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

/** Returns the key if it was created here and must be shown. */
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
    // Created at the same moment by another instance, which shows it.
    if (living.some((one) => one.name === name)) return undefined
    // A deleted key with this name keeps its id, because the log refers to it.
    await storage.keys.create(key)
  }
  return step.secret === undefined ? { name, plaintext } : undefined
}
