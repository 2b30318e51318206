/**
 * SQLite itself: Node's own if this Node has it, else the package with the same interface. Only what is used here is
 * described, because the oldest supported Node has no types for it.
 */
import { createRequire } from 'node:module'

export type SqliteValue = null | number | bigint | string
/** Bytes are bound as a blob; no column is one, so a statement casts them. */
export type SqliteParameter = SqliteValue | Uint8Array
export type SqliteRow = Readonly<Record<string, SqliteValue>>

export interface SqliteStatement {
  run(...parameters: readonly SqliteParameter[]): { readonly changes: number | bigint }
  get(...parameters: readonly SqliteParameter[]): SqliteRow | undefined
  all(...parameters: readonly SqliteParameter[]): readonly SqliteRow[]
  setReadBigInts(readBigInts: boolean): void
}

export interface SqliteDatabase {
  exec(sql: string): void
  prepare(sql: string): SqliteStatement
  close(): void
}

export interface SqliteLibrary {
  /** `timeout`: ms to wait for another connection's lock. */
  readonly DatabaseSync: new (
    path: string,
    options: { readonly timeout: number },
  ) => SqliteDatabase
}

export function loadSqlite(): SqliteLibrary {
  const own: unknown = process.getBuiltinModule('node:sqlite')
  if (isSqliteLibrary(own)) return own
  const packaged: unknown = createRequire(import.meta.url)('@photostructure/sqlite')
  if (isSqliteLibrary(packaged)) return packaged
  throw new Error('neither node:sqlite nor @photostructure/sqlite offers DatabaseSync')
}

function isSqliteLibrary(value: unknown): value is SqliteLibrary {
  return typeof value === 'object' && value !== null && 'DatabaseSync' in value
}
