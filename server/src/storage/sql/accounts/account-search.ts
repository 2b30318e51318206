/** How accounts are found by what a person types. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/** By its names, or by the id of one of its keys. */
export function foundBy(where: ExpressionBuilder<Schema, 'accounts'>, search: string) {
  return where.or([
    named(where, search),
    where.exists(
      where
        .selectFrom('api_keys')
        .select('api_keys.id')
        .whereRef('api_keys.account_id', '=', 'accounts.id')
        .where('api_keys.id', '=', search),
    ),
  ])
}

/** Part of a name, an address or a number, or the whole id. */
export function named(where: ExpressionBuilder<Schema, 'accounts'>, search: string) {
  const like = (column: string) => containsText(column, search)
  return where.or([
    like('accounts.email'),
    like('accounts.phone'),
    where('accounts.id', '=', search),
    where.exists(
      where
        .selectFrom('profiles')
        .select('profiles.account_id')
        .whereRef('profiles.account_id', '=', 'accounts.id')
        .where(like('profiles.name')),
    ),
    where.exists(
      where
        .selectFrom('organisations')
        .select('organisations.id')
        .whereRef('organisations.id', '=', 'accounts.id')
        .where('organisations.closed_at', 'is', null)
        .where(like('organisations.name')),
    ),
  ])
}

/** Case-insensitive; `\\`, `%` and `_` in the text are literal. */
export function containsText(column: string, text: string): RawBuilder<boolean> {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`
}
