/** How this engine connects to PostgreSQL: time-outs, exact integers, and the port's own errors. */
import pg from 'pg'
import { StorageConflict } from '../failures/conflict.ts'
import { TransactionConflict } from '../sql/transaction-conflict.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'

/** How long a new connection may take: an unreachable database is reported within this time. */
const CONNECT_TIMEOUT_MS = 3_000

export interface ConnectOptions {
  readonly databaseUrl: string
  /** After this time the server ends a statement; undefined: never, for migrations. */
  readonly statementTimeoutMs: number | undefined
  /** If a transaction is idle for this time, the server ends the connection. */
  readonly idleInTransactionTimeoutMs?: number
}

/** The client times out a little later than the server; that only happens if the connection is lost. */
const LOST_AFTER_MS = 2_000
export const LOCK_TIMEOUT_MS = 3_000
/** A process that froze in the middle of a transaction must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000

export function clientConfig({
  databaseUrl,
  statementTimeoutMs,
  idleInTransactionTimeoutMs = IDLE_IN_TRANSACTION_TIMEOUT_MS,
}: ConnectOptions): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    application_name: 'sluice',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    ...(statementTimeoutMs !== undefined && {
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + LOST_AFTER_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
    }),
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    types: clientTypes,
  }
}

const { INT2, INT4, INT8 } = pg.types.builtins
const INTEGERS: ReadonlySet<number> = new Set([INT2, INT4, INT8])

/**
 * Every integer is read as a bigint, like on SQLite: money is exact and one row type serves both. The only other type
 * in the schema is text.
 */
export const clientTypes = {
  getTypeParser: (id: number): ((value: string) => bigint | string) =>
    INTEGERS.has(id) ? BigInt : (value) => value,
}

const RETRY_CODES: ReadonlySet<string> = new Set(['40001', '40P01'])
const UNIQUE_VIOLATION = '23505'
/** Server going down or up, read-only standby, lock and statement time-outs, a user without the privilege. */
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '55P03',
  '25006',
  '25P03',
  '42501',
])
/**
 * Connection exceptions, failed authentication, unknown database; insufficient resources (disk, memory, connections);
 * system errors.
 */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(['08', '28', '3D', '53', '58'])

/** Maps a query's failure to the port's errors. */
export function translateError(error: unknown): Error {
  if (error instanceof StorageUnavailable || error instanceof TransactionConflict) return error
  // Errors that are not from the server come from the connection.
  if (!(error instanceof pg.DatabaseError)) {
    return new StorageUnavailable(`PostgreSQL: ${reasonOf(error)}`, { cause: error })
  }
  const code = error.code ?? ''
  if (RETRY_CODES.has(code)) return new TransactionConflict({ cause: error })
  if (code === UNIQUE_VIOLATION) return new StorageConflict(error.message, { cause: error })
  if (UNAVAILABLE_CODES.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2))) {
    return new StorageUnavailable(`PostgreSQL: ${error.message}`, { cause: error })
  }
  return error
}

/** A host with several addresses fails with one error for each, and only those have messages. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
