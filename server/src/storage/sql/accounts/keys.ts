/** API keys. Their plaintext never reaches the store, only its hash and what a list may show. */
import {
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type Kysely,
  type SqlBool,
  type Transaction,
  type Updateable,
} from 'kysely'
import { type AccountId, accountId, type KeyId, keyId } from '../../../core/ids.ts'
import type { Announcement } from '../../announcement.ts'
import type { Key, KeyFilter, KeyStore, NamedKey } from '../../stores/keys.ts'
import type { AnnouncedWrite, Written } from '../announced-write.ts'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import { pageLimit } from '../page.ts'
import type { ApiKeysTable, Schema } from '../schema.ts'
import { containsText, named } from './account-search.ts'
import { decodeKey, encodeKey } from './key-row.ts'
import { putSessionKey } from './session-keys.ts'

export interface KeyStoreOptions {
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
}

export function createKeyStore({ reader, write }: KeyStoreOptions): KeyStore {
  const living = () => reader.selectFrom('api_keys').selectAll().where('status', '<>', 'deleted')
  return {
    async findByHash(hash) {
      const row = await living().where('hash', '=', hash).executeTakeFirst()
      return row === undefined ? findByFormer(reader, hash) : decodeKey({ ...row })
    },

    async find(id) {
      const row = await living().where('id', '=', id).executeTakeFirst()
      return row === undefined ? undefined : decodeKey({ ...row })
    },

    list: (account, options) => listKeys(reader, account, options),

    boundTo: (group, limit) => keysBoundTo(reader, group, limit),

    page: (filter, page) => pageOfKeys(reader, filter, page),

    readNames: (ids) => readNames(reader, ids),

    formerUntil: (ids, at) => readFormerUntil(reader, ids, at),

    create: (key) =>
      write(async (transaction) => {
        await transaction.insertInto('api_keys').values(encodeKey(key)).execute()
        return { value: undefined, changes: [{ kind: 'key', hash: key.hash }] }
      }),

    patch: (id, patch) => write((transaction) => patchKey(transaction, id, patch)),

    rotate: (id, secret, options) => write((transaction) => rotateKey(transaction, id, secret, options)),

    putForSession: (key, at) => write((transaction) => putSessionKey(transaction, key, at)),
  }
}

async function listKeys(
  reader: Kysely<Schema>,
  account: AccountId,
  { member, ever }: Parameters<KeyStore['list']>[1] = {},
): Promise<readonly Key[]> {
  let query = reader.selectFrom('api_keys').selectAll().where('account_id', '=', account)
  if (ever !== 'included') query = query.where('status', '<>', 'deleted').where('session_id', 'is', null)
  if (member !== undefined) query = query.where('member_id', '=', member)
  const rows = await query.orderBy('created_at').orderBy('id').execute()
  return rows.map((row) => decodeKey({ ...row }))
}

async function keysBoundTo(reader: Kysely<Schema>, group: string, limit: number): Promise<readonly Key[]> {
  const rows = await reader
    .selectFrom('api_keys')
    .selectAll()
    .where('group_name', '=', group)
    .where('status', '<>', 'deleted')
    .where('session_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(pageLimit(limit))
    .execute()
  return rows.map((row) => decodeKey({ ...row }))
}

async function pageOfKeys(
  reader: Kysely<Schema>,
  filter: KeyFilter,
  { limit, cursor }: Parameters<KeyStore['page']>[1],
): ReturnType<KeyStore['page']> {
  const wanted = pageLimit(limit)
  let query = reader
    .selectFrom('api_keys')
    .selectAll()
    .where('status', '<>', 'deleted')
    .where('session_id', 'is', null)
    .where((where) => where.and(conditionsOf(reader, filter)))
  if (cursor !== undefined) {
    const { at, id } = decodeCursor(cursor)
    query = query.where((where) =>
      where(where.refTuple('created_at', 'id'), '<', where.tuple(BigInt(at), id)),
    )
  }
  const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(wanted).execute()
  const last = rows.at(-1)
  const next =
    last === undefined || rows.length < wanted
      ? undefined
      : encodeCursor({ at: Number(last.created_at), id: last.id })
  return { rows: rows.map((row) => decodeKey({ ...row })), next }
}

function conditionsOf(
  reader: Kysely<Schema>,
  { search, account, group, state, at }: KeyFilter,
): readonly Expression<SqlBool>[] {
  const where = expressionBuilder<Schema, 'api_keys'>()
  const ended = where.and([where('expires_at', 'is not', null), where('expires_at', '<=', BigInt(at))])
  return [
    ...(account === undefined ? [] : [where('account_id', '=', account)]),
    ...(group === undefined ? [] : [where('group_name', '=', group)]),
    ...(state === undefined ? [] : [where('status', '=', state === 'disabled' ? 'disabled' : 'enabled')]),
    ...(state === 'enabled' ? [where.not(ended)] : []),
    ...(state === 'expired' ? [ended] : []),
    ...(search === undefined ? [] : [isFound(reader, where, search)]),
  ]
}

function isFound(
  reader: Kysely<Schema>,
  where: ExpressionBuilder<Schema, 'api_keys'>,
  search: string,
): Expression<SqlBool> {
  const accounts = reader
    .selectFrom('accounts')
    .select('id')
    .where((each) => named(each, search))
  return where.or([
    where('id', '=', search),
    containsText('api_keys.name', search),
    containsText('api_keys.hint', search),
    where('account_id', 'in', accounts),
  ])
}

async function readNames(
  reader: Kysely<Schema>,
  ids: readonly KeyId[],
): Promise<ReadonlyMap<KeyId, NamedKey>> {
  if (ids.length === 0) return new Map()
  const rows = await reader
    .selectFrom('api_keys')
    .select(['id', 'account_id', 'name', 'hint'])
    .where('id', 'in', ids)
    .execute()
  return new Map(
    rows.map(({ id, account_id: account, name, hint }) => [
      keyId(id),
      { accountId: accountId(account), name, hint },
    ]),
  )
}

async function patchKey(
  transaction: Transaction<Schema>,
  id: KeyId,
  patch: Parameters<KeyStore['patch']>[1],
): Promise<Written<boolean>> {
  const before = await transaction
    .selectFrom('api_keys')
    .select('hash')
    .where('id', '=', id)
    .where('status', '<>', 'deleted')
    .executeTakeFirst()
  if (before === undefined) return { value: false, changes: [] }
  const columns = columnsOf(patch)
  if (Object.keys(columns).length > 0) {
    await transaction.updateTable('api_keys').set(columns).where('id', '=', id).execute()
  }
  const former = await transaction
    .selectFrom('former_secrets')
    .select('hash')
    .where('key_id', '=', id)
    .execute()
  const hashes = new Set([before.hash, patch.hash ?? before.hash, ...former.map((row) => row.hash)])
  return { value: true, changes: [...hashes].map((hash): Announcement => ({ kind: 'key', hash })) }
}

async function rotateKey(
  transaction: Transaction<Schema>,
  id: KeyId,
  secret: Parameters<KeyStore['rotate']>[1],
  { formerUntil, at }: Parameters<KeyStore['rotate']>[2],
): Promise<Written<boolean>> {
  const hash = await lockHash(transaction, id)
  if (hash === undefined) return { value: false, changes: [] }
  const ended = await endFormer(transaction, id, formerUntil === undefined ? undefined : at)
  if (formerUntil !== undefined) {
    await transaction
      .insertInto('former_secrets')
      .values({ hash, key_id: id, valid_until: formerUntil })
      .onConflict((conflict) => conflict.column('hash').doUpdateSet({ key_id: id, valid_until: formerUntil }))
      .execute()
  }
  await transaction
    .updateTable('api_keys')
    .set({ hash: secret.hash, hint: secret.hint })
    .where('id', '=', id)
    .execute()
  const hashes = new Set([hash, secret.hash, ...ended])
  return { value: true, changes: [...hashes].map((one): Announcement => ({ kind: 'key', hash: one })) }
}

/** By an earlier secret of the key: the key as it is now, but only until the overlap ends. */
async function findByFormer(reader: Kysely<Schema>, hash: string): Promise<Key | undefined> {
  const former = await reader
    .selectFrom('former_secrets')
    .select(['key_id', 'valid_until'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (former === undefined) return undefined
  const row = await reader
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', former.key_id)
    .where('status', '<>', 'deleted')
    .executeTakeFirst()
  if (row === undefined) return undefined
  const key = decodeKey({ ...row })
  const until = Number(former.valid_until)
  return { ...key, hash, expiresAt: Math.min(key.expiresAt ?? until, until) }
}

async function readFormerUntil(
  reader: Kysely<Schema>,
  ids: readonly KeyId[],
  at: number,
): Promise<ReadonlyMap<KeyId, number>> {
  if (ids.length === 0) return new Map()
  const rows = await reader
    .selectFrom('former_secrets')
    .select((select) => ['key_id', select.fn.max('valid_until').as('until')])
    .where('key_id', 'in', ids)
    .where('valid_until', '>', BigInt(at))
    .groupBy('key_id')
    .execute()
  return new Map(rows.map((row) => [keyId(row.key_id), Number(row.until)]))
}

/** Locks the row, so that two rotations follow each other; returns the present hash. */
async function lockHash(transaction: Transaction<Schema>, id: KeyId): Promise<string | undefined> {
  const row = await transaction
    .updateTable('api_keys')
    .set((row) => ({ status: row.ref('status') }))
    .where('id', '=', id)
    .where('status', '<>', 'deleted')
    .returning('hash')
    .executeTakeFirst()
  return row?.hash
}

/** Removes former secrets that have expired at this moment, or all of them; returns their hashes. */
async function endFormer(
  transaction: Transaction<Schema>,
  id: KeyId,
  at: number | undefined,
): Promise<readonly string[]> {
  let query = transaction.deleteFrom('former_secrets').where('key_id', '=', id)
  if (at !== undefined) query = query.where('valid_until', '<=', BigInt(at))
  const rows = await query.returning('hash').execute()
  return rows.map((row) => row.hash)
}

/** The columns that a patch names; a field that is present as `undefined` clears its column. */
function columnsOf(patch: Partial<Key>): Updateable<ApiKeysTable> {
  return {
    ...('memberId' in patch && { member_id: patch.memberId ?? null }),
    ...(patch.name !== undefined && { name: patch.name }),
    ...(patch.status !== undefined && { status: patch.status }),
    ...(patch.hash !== undefined && { hash: patch.hash }),
    ...(patch.hint !== undefined && { hint: patch.hint }),
    ...('expiresAt' in patch && { expires_at: patch.expiresAt ?? null }),
    ...('group' in patch && { group_name: patch.group ?? null }),
    ...(patch.models !== undefined && { models: JSON.stringify(patch.models) }),
    ...(patch.ipAllow !== undefined && { ip_allow: JSON.stringify(patch.ipAllow) }),
    ...('policy' in patch && { policy: patch.policy === undefined ? null : JSON.stringify(patch.policy) }),
  }
}
