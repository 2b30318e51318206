/** The stored state of the accounts in a gateway file: everything the plan needs, read beforehand. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AccountFileRow, KeyRow } from '../../config/gateway-file/gateway-file.ts'
import type { CredentialSecret } from '../../core/catalogue.ts'
import type { VendorCode } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'
import type { Storage } from '../../storage/storage.ts'
import { hasHistory } from '../money/grants.ts'
import { hashKeySecret } from '../keys/keys.ts'
import { verifyPassword } from '../accounts/passwords.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'

export interface AccountState {
  readonly row: AccountFileRow
  /** undefined: there is no such account yet. */
  readonly account: Account | undefined
  /** Keys that are not deleted. */
  readonly keys: readonly Key[]
  /** Own credentials that are switched on; the store does not return others. */
  readonly byok: ReadonlyMap<VendorCode, CredentialSecret>
  /** Vendors with an own credential that is switched off. */
  readonly byokOff: readonly VendorCode[]
  /** Something was booked for it, so no opening amounts are booked again. */
  readonly opened: boolean
  /** The file's password is the stored one, or the file has none. */
  readonly passwordKept: boolean
}

/** `mistakes`: conflicts with what is stored, which are only found by reading it. */
export type AccountStates =
  | { readonly kind: 'states'; readonly states: readonly AccountState[] }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }

type StorageOfAccounts = Pick<Storage, 'accounts' | 'keys' | 'ledger'>

/** Whether the file's password matches this hash. */
export type PasswordCheck = (hash: string, password: Secret) => Promise<boolean>

/** Caches results, because verifying is deliberately slow. Use one for a single operation. */
export function rememberedPasswordCheck(): PasswordCheck {
  const answers = new Map<string, Promise<boolean>>()
  return (hash, password) => {
    const asked = JSON.stringify([hash, password.unwrap()])
    const answer = answers.get(asked) ?? verifyPassword(hash, password)
    answers.set(asked, answer)
    return answer
  }
}

export async function readAccountStates(
  storage: StorageOfAccounts,
  rows: readonly AccountFileRow[],
  isPasswordKept: PasswordCheck,
): Promise<AccountStates> {
  const mistakes: Mistake[] = []
  const states: AccountState[] = []
  for (const row of rows) {
    const account = await findByNaturalKey(storage, row, mistakes)
    states.push(await readAccountState(storage, { row, account, isPasswordKept }, mistakes))
  }
  return mistakes.length > 0 ? { kind: 'mistakes', mistakes } : { kind: 'states', states }
}

interface FoundAccount {
  readonly row: AccountFileRow
  /** undefined: there is no such account yet. */
  readonly account: Account | undefined
  readonly isPasswordKept: PasswordCheck
}

/** The state for one row, however its account was found. Conflicts are added to `mistakes`. */
export async function readAccountState(
  storage: StorageOfAccounts,
  found: FoundAccount,
  mistakes: Mistake[],
): Promise<AccountState> {
  const { row } = found
  const state = await readState(storage, found)
  mistakes.push(...findSecretlessByok(state))
  for (const key of row.keys ?? []) {
    const message = await clashOfSecret(storage, key, state)
    if (message !== undefined) mistakes.push({ place: key.secret?.place ?? key.place, message })
  }
  return state
}

async function findByNaturalKey(
  storage: StorageOfAccounts,
  row: AccountFileRow,
  mistakes: Mistake[],
): Promise<Account | undefined> {
  const { email, phone, place } = row
  const byEmail = email === undefined ? undefined : await storage.accounts.findByLogin({ email })
  const byPhone = phone === undefined ? undefined : await storage.accounts.findByLogin({ phone })
  if (byEmail !== undefined && byPhone !== undefined && byEmail.id !== byPhone.id) {
    mistakes.push({ place, message: say('two-accounts') })
  }
  return byEmail ?? byPhone
}

async function readState(
  storage: StorageOfAccounts,
  { row, account, isPasswordKept }: FoundAccount,
): Promise<AccountState> {
  if (account === undefined) {
    return {
      row,
      account,
      keys: [],
      byok: new Map(),
      byokOff: [],
      opened: false,
      passwordKept: row.password === undefined,
    }
  }
  const keys = await storage.keys.list(account.id)
  return {
    row,
    account,
    keys: keys.filter((key) => key.status !== 'deleted'),
    byok: await storage.accounts.readByok(account.id),
    byokOff: (await storage.accounts.listByok(account.id))
      .filter((entry) => !entry.enabled)
      .map((entry) => entry.vendor),
    opened: await hasHistory(storage, account.id),
    passwordKept: await isKept(row, account, isPasswordKept),
  }
}

async function isKept(
  { password }: AccountFileRow,
  { passwordHash }: Account,
  isPasswordKept: PasswordCheck,
): Promise<boolean> {
  if (password === undefined) return true
  return passwordHash !== undefined && isPasswordKept(passwordHash, password)
}

/** An own credential may lack its secret in the file only if a stored one can be reused. */
function findSecretlessByok({ row, byok, byokOff }: AccountState): readonly Mistake[] {
  return (row.byok ?? []).flatMap(({ secret, vendor, enabled, place }) => {
    const stays = byok.has(vendor.name) || (byokOff.includes(vendor.name) && !enabled)
    if (secret !== undefined || stays) return []
    const why = say(byokOff.includes(vendor.name) ? 'stored-one-is-off' : 'none-stored')
    return [{ place: { ...place, path: `${place.path}.secret` }, message: say('missing-because', { why }) }]
  })
}

/**
 * A fixed key may be this row's own, or that of a key of this account that is missing from the file: then that key is
 * renamed.
 */
async function clashOfSecret(
  storage: StorageOfAccounts,
  key: KeyRow,
  state: AccountState,
): Promise<Sentence | undefined> {
  if (key.secret === undefined) return undefined
  const holder = await storage.keys.findByHash(hashKeySecret(key.secret.value))
  if (holder === undefined || holder.id === matchKey(key, state)?.id) return undefined
  return say('secret-of-key', { name: holder.name, hint: holder.hint })
}

/** The stored key of a row: the one with its name, else one with its secret whose name is no longer in the file. */
export function matchKey(key: KeyRow, state: Pick<AccountState, 'keys' | 'row'>): Key | undefined {
  const byName = state.keys.find((stored) => stored.name === key.name)
  if (byName !== undefined || key.secret === undefined) return byName
  const hash = hashKeySecret(key.secret.value)
  return state.keys.find(
    (stored) => stored.hash === hash && !state.row.keys?.some((row) => row.name === stored.name),
  )
}
