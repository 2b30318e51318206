/**
 * Failures of a start that an operator can mend, each as a sentence that says what to change. Whatever is not in here
 * nobody foresaw: then the stack trace is the best there is.
 */
import type { Config } from '../config/environment.ts'
import { SecretKeyMismatch } from '../storage/secret-key-mismatch.ts'
import { StorageUnavailable } from '../storage/unavailable.ts'

/** What the sentences name. */
export type StartedWith = Pick<
  Config,
  'database' | 'dataDirectory' | 'host' | 'port' | 'gatewayPort' | 'opsHost' | 'opsPort'
>

/** undefined: not a failure of this kind. */
export function explainStartFailure(error: unknown, config: StartedWith): string | undefined {
  if (error instanceof SecretKeyMismatch) return error.message
  const facts = factsOf(error)
  if (facts.syscall === 'listen' || facts.syscall === 'bind') return explainListen(facts, config)
  if (!(error instanceof StorageUnavailable)) return undefined
  const cause = factsOf(error.cause)
  if (config.database.kind === 'sqlite') return explainSqlite(cause, config.database.file)
  return explainPostgres(cause)
}

/** The members that errors of Node, SQLite and PostgreSQL explain themselves by. */
interface Facts {
  readonly code: string | undefined
  readonly syscall: string | undefined
  readonly address: string | undefined
  readonly port: number | undefined
  readonly sqliteCodeName: string | undefined
  readonly message: string
}

function factsOf(error: unknown): Facts {
  const members: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {}
  const text = (name: string): string | undefined => {
    const value = members[name]
    return typeof value === 'string' ? value : undefined
  }
  return {
    code: text('code'),
    syscall: text('syscall'),
    address: text('address'),
    port: typeof members['port'] === 'number' ? members['port'] : undefined,
    sqliteCodeName: text('sqliteCodeName'),
    message: error instanceof Error ? error.message : String(error),
  }
}

function explainListen(facts: Facts, config: StartedWith): string | undefined {
  const { port = 0 } = facts
  const [portName, hostName] =
    port === config.opsPort
      ? ['SLUICE_OPS_PORT', config.opsHost === config.host ? 'SLUICE_HOST' : 'SLUICE_OPS_HOST']
      : [port === config.gatewayPort ? 'SLUICE_GATEWAY_PORT' : 'SLUICE_PORT', 'SLUICE_HOST']
  const place = facts.address ?? config.host ?? 'this one'
  const fixes: ReadonlyMap<string, string> = new Map([
    [
      'EADDRINUSE',
      `port ${port} is taken by another program: stop that one, or set ${portName} to a free port`,
    ],
    ['EACCES', `port ${port} may not be listened on by this user: set ${portName} to a port above 1023`],
    ['EADDRNOTAVAIL', `${hostName} must be an address of this machine, ${place} is not`],
    ['ENOTFOUND', `${hostName} must be an address of this machine, ${place} is not`],
  ])
  return fixes.get(facts.code ?? '')
}

function explainSqlite(facts: Facts, file: string): string | undefined {
  const why = SQLITE_FIXES.get(facts.sqliteCodeName ?? '')
  return why === undefined ? undefined : `${file} ${why[0]} (${facts.message}): ${why[1]}`
}

const OWNED = 'the data directory and what lies in it must belong to the user that runs Sluice'
const DISK = 'look whether its disk is full or failing'
const DAMAGED = 'put a backup in its place with sluice restore, or move it away to begin anew'

/** By SQLite's name of the failure: what is wrong with the file, and what to do. */
const SQLITE_FIXES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['SQLITE_NOTADB', ['is damaged, or no database at all', DAMAGED]],
  ['SQLITE_CORRUPT', ['is damaged, or no database at all', DAMAGED]],
  ['SQLITE_READONLY', ['cannot be written', OWNED]],
  ['SQLITE_CANTOPEN', ['cannot be opened', OWNED]],
  ['SQLITE_PERM', ['cannot be opened', OWNED]],
  ['SQLITE_FULL', ['cannot be written', DISK]],
  ['SQLITE_IOERR', ['cannot be read or written', DISK]],
])

function explainPostgres(facts: Facts): string | undefined {
  const why = POSTGRES_FIXES.get(facts.code ?? '')
  return why === undefined
    ? undefined
    : `the database of SLUICE_DATABASE_URL cannot be used (${facts.message}): ${why}`
}

/** By the code of the connection, or of PostgreSQL (appendix A of its manual). */
const POSTGRES_FIXES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there; start it, or correct the host and port'],
  ['ENOTFOUND', 'there is no such host; correct its name'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up just now'],
  ['ETIMEDOUT', 'it does not answer; look at the network and its firewalls'],
  ['EHOSTUNREACH', 'it cannot be reached; look at the network'],
  ['28P01', 'correct the user or the password'],
  ['28000', 'this user may not sign in from here; see pg_hba.conf'],
  ['3D000', 'make the database first: createdb'],
  ['42501', 'its user must own the database, to make the tables'],
  ['53300', 'it has too many connections already'],
])
