/** Sessions. Their tokens never reach the store, only the hashes. */
import { accountId } from '../../../core/ids.ts'
import type { Session, SessionStore, SignInMethod } from '../../stores/identity.ts'
import { endSessionKeys } from '../accounts/session-keys.ts'
import { indexableText } from '../free-text.ts'
import { numberOf, optionalTextOf, type StoredRow, textOf } from '../table.ts'
import type { IdentityStoreOptions } from './options.ts'

export function createSessionStore({ reader, write }: IdentityStoreOptions): SessionStore {
  const living = (at: number) => livingSessions(reader, at)
  return {
    create: (session, tokenHash) =>
      write(async (transaction) => {
        await transaction
          .insertInto('sessions')
          .values({
            id: session.id,
            token_hash: tokenHash,
            account_id: session.accountId,
            method: session.method,
            created_at: session.createdAt,
            seen_at: session.seenAt,
            idle_ends_at: session.idleEndsAt,
            ends_at: session.endsAt,
            user_agent: indexableText(session.userAgent),
            address: session.address,
            impersonator: session.impersonator ?? null,
            opened_from: session.openedFrom ?? null,
            second_factor: session.secondFactor ? 1 : 0,
          })
          .execute()
        if (session.impersonator === undefined) {
          await transaction
            .insertInto('sign_in_places')
            .values({ account_id: session.accountId, address: session.place, seen_at: session.createdAt })
            .onConflict((conflict) =>
              conflict.columns(['account_id', 'address']).doUpdateSet({ seen_at: session.createdAt }),
            )
            .execute()
        }
        return { value: undefined, changes: [] }
      }),

    async findByHash(tokenHash, at) {
      const row = await living(at).where('token_hash', '=', tokenHash).executeTakeFirst()
      return row === undefined ? undefined : decodeSession({ ...row })
    },

    touch: (id, { at, idleEndsAt }) =>
      write(async (transaction) => {
        await transaction
          .updateTable('sessions')
          .set({ seen_at: at, idle_ends_at: idleEndsAt })
          .where('id', '=', id)
          .where('seen_at', '<', BigInt(at))
          .execute()
        return { value: undefined, changes: [] }
      }),

    showSecondFactor: (id) =>
      write(async (transaction) => {
        await transaction.updateTable('sessions').set({ second_factor: 1 }).where('id', '=', id).execute()
        return { value: undefined, changes: [] }
      }),

    forgetSecondFactor: (account) =>
      write(async (transaction) => {
        await transaction
          .updateTable('sessions')
          .set({ second_factor: 0 })
          .where('account_id', '=', account)
          .execute()
        return { value: undefined, changes: [] }
      }),

    async list(account, at) {
      const rows = await living(at)
        .where('account_id', '=', account)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
      return rows.map((row) => decodeSession({ ...row }))
    },

    revoke: (account, id) =>
      write(async (transaction) => {
        const ended = await transaction
          .deleteFrom('sessions')
          .where('account_id', '=', account)
          .where('id', '=', id)
          .returning('id')
          .execute()
        return { value: ended.length === 1, changes: await endSessionKeys(transaction, ended) }
      }),

    revokeAll: (account, { except } = {}) =>
      write(async (transaction) => {
        const all = transaction.deleteFrom('sessions').where('account_id', '=', account)
        const ended = await (except === undefined ? all : all.where('id', '<>', except))
          .returning('id')
          .execute()
        return { value: ended.length, changes: await endSessionKeys(transaction, ended) }
      }),

    async knowsPlace(account, place, since) {
      const row = await reader
        .selectFrom('sign_in_places')
        .select('seen_at')
        .where('account_id', '=', account)
        .where('address', '=', place)
        .where('seen_at', '>=', BigInt(since))
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

/** An impersonation also needs the session it was opened from. */
function livingSessions(reader: IdentityStoreOptions['reader'], at: number) {
  const now = BigInt(at)
  return reader
    .selectFrom('sessions')
    .selectAll()
    .where('idle_ends_at', '>', now)
    .where('ends_at', '>', now)
    .where((is) =>
      is.or([
        is('impersonator', 'is', null),
        is.exists(
          is
            .selectFrom('sessions as opener')
            .select('opener.id')
            .whereRef('opener.id', '=', 'sessions.opened_from')
            .whereRef('opener.account_id', '=', 'sessions.impersonator')
            .where('opener.idle_ends_at', '>', now)
            .where('opener.ends_at', '>', now),
        ),
      ]),
    )
}

function decodeSession(row: StoredRow): Session {
  const impersonator = optionalTextOf(row, 'impersonator')
  return {
    id: textOf(row, 'id'),
    accountId: accountId(textOf(row, 'account_id')),
    method: methodOf(textOf(row, 'method')),
    createdAt: numberOf(row, 'created_at'),
    seenAt: numberOf(row, 'seen_at'),
    idleEndsAt: numberOf(row, 'idle_ends_at'),
    endsAt: numberOf(row, 'ends_at'),
    userAgent: textOf(row, 'user_agent'),
    address: textOf(row, 'address'),
    impersonator: impersonator === undefined ? undefined : accountId(impersonator),
    openedFrom: optionalTextOf(row, 'opened_from'),
    secondFactor: numberOf(row, 'second_factor') === 1,
  }
}

const METHODS: readonly SignInMethod[] = ['password', 'code', 'passkey', 'service', 'link', 'impersonation']

function methodOf(text: string): SignInMethod {
  const method = METHODS.find((known) => known === text)
  if (method === undefined) throw new Error(`a session says it began by ${text}`)
  return method
}
