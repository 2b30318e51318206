/** Accounts and their own upstream credentials. */
import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { CredentialSecret, DecimalText } from '../../../core/catalogue.ts'
import { normalEmail } from '../../../core/identity/email-address.ts'
import { type AccountId, accountId, type VendorCode, vendorCode } from '../../../core/ids.ts'
import { UNLIMITED } from '../../../core/limits/policy.ts'
import { ZERO } from '../../../core/money.ts'
import type { Announcement } from '../../announcement.ts'
import { LastAdmin } from '../../failures/last-admin.ts'
import type { SecretBox } from '../../secret-box.ts'
import type { Account, AccountPatch, AccountStore } from '../../stores/accounts.ts'
import type { ByokEntry } from '../../stores/keys.ts'
import type { AnnouncedWrite, Written } from '../announced-write.ts'
import { openCredential, sealCredential } from '../catalogue/sealed-credential.ts'
import type { SqlEngine } from '../engine.ts'
import { chargeOwedIn } from '../ledger/owed.ts'
import { pageLimit } from '../page.ts'
import type { AccountsTable, Schema } from '../schema.ts'
import { foundBy } from './account-search.ts'
import { decodeAccount, encodeAutoExchange, encodeSubscription } from './account-row.ts'
import { endSessionKeys } from './session-keys.ts'

export interface AccountStoreOptions {
  readonly engine: SqlEngine
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
  readonly secrets: SecretBox
  readonly now: () => number
  readonly newId: () => string
}

const LIST_RATE: DecimalText = '100'

/** Accounts charged in one transaction. */
const CHARGED_AT_ONCE = 200

export function createAccountStore(options: AccountStoreOptions): AccountStore {
  const { reader, write, secrets } = options
  const findBy = async (column: 'id' | 'email' | 'phone', value: string): Promise<Account | undefined> => {
    const row = await reader.selectFrom('accounts').selectAll().where(column, '=', value).executeTakeFirst()
    return row === undefined ? undefined : decodeAccount(toStored(row))
  }
  return {
    create: (account) =>
      write(async (transaction) => {
        await transaction
          .insertInto('accounts')
          .values({ ...newAccount(), ...columnsOf(account), id: account.id, created_at: account.createdAt })
          .execute()
        return { value: undefined, changes: [{ kind: 'account', accountId: account.id }] }
      }),

    patch: (id, patch) => patchAccount(options, id, patch),

    chargeOwed: (month) => chargeAllOwed(options, month),

    find: (id) => findBy('id', id),

    findByLogin: (login) =>
      'email' in login ? findBy('email', oneEmail(login.email)) : findBy('phone', login.phone),

    list: (page) => listAccounts(reader, page),

    readNames: (ids) => readNames(reader, ids),

    async readByok(id) {
      const rows = await reader
        .selectFrom('byok')
        .select(['vendor_code', 'sealed'])
        .where('account_id', '=', id)
        .where('enabled', '=', 1n)
        .execute()
      const entries = rows.map(({ vendor_code, sealed }): [VendorCode, CredentialSecret] => {
        const vendor = vendorCode(vendor_code)
        return [vendor, openCredential(secrets, sealed, purposeOf(id, vendor))]
      })
      return new Map(entries)
    },

    async listByok(id) {
      const rows = await reader
        .selectFrom('byok')
        .select(['vendor_code', 'enabled'])
        .where('account_id', '=', id)
        .orderBy('vendor_code')
        .execute()
      return rows.map(
        ({ vendor_code, enabled }): ByokEntry => ({
          vendor: vendorCode(vendor_code),
          enabled: enabled === 1n,
        }),
      )
    },

    putByok: (id, vendor, secret, options) =>
      write(async (transaction) => {
        const row = {
          sealed: sealCredential(secrets, secret, purposeOf(id, vendor)),
          enabled: options.enabled ? 1 : 0,
        }
        await transaction
          .insertInto('byok')
          .values({ account_id: id, vendor_code: vendor, ...row })
          .onConflict((conflict) => conflict.columns(['account_id', 'vendor_code']).doUpdateSet(row))
          .execute()
        await refreshByokVendors(transaction, id)
        return { value: undefined, changes: [{ kind: 'account', accountId: id }] }
      }),

    switchByok: (id, vendor, enabled) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('byok')
          .set({ enabled: enabled ? 1 : 0 })
          .where('account_id', '=', id)
          .where('vendor_code', '=', vendor)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return { value: false, changes: [] }
        await refreshByokVendors(transaction, id)
        return { value: true, changes: [{ kind: 'account', accountId: id }] }
      }),

    removeByok: (id, vendor) =>
      write(async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('byok')
          .where('account_id', '=', id)
          .where('vendor_code', '=', vendor)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return { value: false, changes: [] }
        await refreshByokVendors(transaction, id)
        return { value: true, changes: [{ kind: 'account', accountId: id }] }
      }),
  }
}

/** A changed cap charges what is owed, in the same transaction. */
function patchAccount(
  { engine, write, now, newId }: AccountStoreOptions,
  id: AccountId,
  patch: AccountPatch,
): Promise<boolean> {
  return write(async (transaction) => {
    const patched = await patchIn(engine, transaction, { id, patch })
    if (patch.monthlyCap !== undefined) await chargeOwedIn(transaction, [id], { engine, newId, at: now() })
    return patched
  })
}

async function chargeAllOwed(
  { engine, reader, write, newId }: AccountStoreOptions,
  month: Parameters<AccountStore['chargeOwed']>[0],
): Promise<number> {
  let count = 0
  for (let after: AccountId | undefined; ; ) {
    const ids = await findOwing(reader, { ...month, after, limit: CHARGED_AT_ONCE })
    const charged = await write(async (transaction) => {
      const value = await chargeOwedIn(transaction, ids, { engine, newId, ...month })
      return { value, changes: value.map((id) => ({ kind: 'account' as const, accountId: id })) }
    })
    count += charged.length
    if (ids.length < CHARGED_AT_ONCE) return count
    after = ids.at(-1)
  }
}

/** Accounts whose caps allow charging what they owe, now or in the current month. */
async function findOwing(
  reader: Kysely<Schema>,
  page: { readonly monthStart: number; readonly after: AccountId | undefined; readonly limit: number },
): Promise<readonly AccountId[]> {
  const rows = await reader
    .selectFrom('accounts')
    .select('id')
    .where('owed', '>', 0n)
    .where('id', '>', page.after ?? '')
    .where((where) =>
      where.or([
        where('monthly_cap', '<=', 0n),
        where('month_start', '<', BigInt(page.monthStart)),
        where(sql<bigint>`monthly_cap - month_spent - month_held`, '>', 0n),
      ]),
    )
    .orderBy('id')
    .limit(page.limit)
    .execute()
  return rows.map((row) => accountId(row.id))
}

async function patchIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { id, patch }: { readonly id: AccountId; readonly patch: AccountPatch },
): Promise<Written<boolean>> {
  if (patch.role === 'user' || patch.status === 'suspended') await keepAnAdmin(engine, transaction, id)
  const columns = columnsOf(patch)
  const found =
    Object.keys(columns).length === 0
      ? await exists(transaction, id)
      : (await transaction.updateTable('accounts').set(columns).where('id', '=', id).executeTakeFirst())
          .numUpdatedRows === 1n
  const changes: Announcement[] = found ? [{ kind: 'account', accountId: id }] : []
  if ('passwordHash' in patch) {
    const ended = await transaction
      .deleteFrom('sessions')
      .where('account_id', '=', id)
      .returning('id')
      .execute()
    changes.push(...(await endSessionKeys(transaction, ended)))
  }
  return { value: found, changes }
}

/** Under a lock on every admin, in one order, so that two admins cannot suspend each other at the same time. */
async function keepAnAdmin(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  leaving: AccountId,
): Promise<void> {
  const query = transaction
    .selectFrom('accounts')
    .select('id')
    .where('role', '=', 'admin')
    .where('status', '=', 'active')
    .orderBy('id')
  const admins = await (engine.name === 'postgres' ? query.forUpdate() : query).execute()
  const [only, ...others] = admins
  if (only?.id === leaving && others.length === 0) throw new LastAdmin()
}

/** kysely's row is the stored row; with this type one decoder serves the hot path too. */
function toStored(row: Selectable<AccountsTable>): Readonly<Record<string, string | bigint | null>> {
  return { ...row }
}

/** One form for every spelling of an address; other text is kept as written. */
function oneEmail(email: string): string {
  return normalEmail(email) ?? email.trim().toLowerCase()
}

function purposeOf(id: AccountId, vendor: VendorCode): string {
  return `byok:${id}/${vendor}`
}

/** A default account: active, at list price, with empty balances. */
export function newAccount() {
  return {
    kind: 'person',
    role: 'user',
    status: 'active',
    verification: 0,
    user_rate: LIST_RATE,
    credits: 0,
    held: 0,
    balance: 0,
    owed: 0,
    api_deduction: 1,
    monthly_cap: 0,
    month_start: 0,
    month_spent: 0,
    month_held: 0,
    auto_exchange: encodeAutoExchange({ enabled: false, belowCredits: ZERO, step: ZERO }),
    policy: JSON.stringify(UNLIMITED),
    byok_vendors: '[]',
  }
}

/** The columns that a patch names; a field that is present as `undefined` clears its column. */
function columnsOf(patch: AccountPatch): Partial<Insertable<AccountsTable>> {
  return {
    ...('email' in patch && { email: patch.email === undefined ? null : oneEmail(patch.email) }),
    ...('phone' in patch && { phone: patch.phone ?? null }),
    ...('passwordHash' in patch && { password_hash: patch.passwordHash ?? null }),
    ...(patch.role !== undefined && { role: patch.role }),
    ...(patch.status !== undefined && { status: patch.status }),
    ...(patch.verification !== undefined && { verification: patch.verification }),
    ...(patch.userRate !== undefined && { user_rate: patch.userRate }),
    ...(patch.apiDeduction !== undefined && { api_deduction: patch.apiDeduction ? 1 : 0 }),
    ...(patch.monthlyCap !== undefined && { monthly_cap: patch.monthlyCap }),
    ...(patch.autoExchange !== undefined && { auto_exchange: encodeAutoExchange(patch.autoExchange) }),
    ...('subscription' in patch && {
      subscription: patch.subscription === undefined ? null : encodeSubscription(patch.subscription),
    }),
    ...('fallbackModel' in patch && { fallback_model: patch.fallbackModel ?? null }),
    ...(patch.policy !== undefined && { policy: JSON.stringify(patch.policy) }),
  }
}

async function exists(transaction: Transaction<Schema>, id: AccountId): Promise<boolean> {
  const row = await transaction.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

async function refreshByokVendors(transaction: Transaction<Schema>, id: AccountId): Promise<void> {
  const rows = await transaction
    .selectFrom('byok')
    .select('vendor_code')
    .where('account_id', '=', id)
    .where('enabled', '=', 1n)
    .orderBy('vendor_code')
    .execute()
  await transaction
    .updateTable('accounts')
    .set({ byok_vendors: JSON.stringify(rows.map((row) => row.vendor_code)) })
    .where('id', '=', id)
    .execute()
}

async function readNames(
  reader: Kysely<Schema>,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, string>> {
  if (ids.length === 0) return new Map()
  const people = await reader
    .selectFrom('profiles')
    .select(['account_id as id', 'name'])
    .where('account_id', 'in', ids)
    .execute()
  const organisations = await reader
    .selectFrom('organisations')
    .select(['id', 'name'])
    .where('id', 'in', ids)
    .where('closed_at', 'is', null)
    .execute()
  return new Map(
    [...people, ...organisations].flatMap(({ id, name }) => (name === null ? [] : [[accountId(id), name]])),
  )
}

async function listAccounts(
  reader: Kysely<Schema>,
  { limit, after, search, kind, role, status }: Parameters<AccountStore['list']>[0],
): Promise<readonly Account[]> {
  let query = reader
    .selectFrom('accounts')
    .selectAll()
    .where('id', '>', after ?? '')
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (role !== undefined) query = query.where('role', '=', role)
  if (status !== undefined) query = query.where('status', '=', status)
  if (search !== undefined) query = query.where((where) => foundBy(where, search))
  const rows = await query.orderBy('id').limit(pageLimit(limit)).execute()
  return rows.map((row) => decodeAccount(toStored(row)))
}
