/**
 * Failures of a start that an operator can fix: the cause, and what to change. Reported by a start, by every command
 * and by `sluice doctor`.
 */
import type { Config } from '../config/environment.ts'
import { NewerSchema } from '../storage/failures/newer-schema.ts'
import { SecretKeyMismatch } from '../storage/failures/secret-key-mismatch.ts'
import { StorageUnavailable } from '../storage/failures/unavailable.ts'

/** Settings named in the messages. */
export type StartedWith = Pick<
  Config,
  'database' | 'dataDirectory' | 'host' | 'port' | 'gatewayPort' | 'opsHost' | 'opsPort'
>

export interface StartFailure {
  readonly found: string
  /** What to change. */
  readonly fix: string
}

/** undefined: not a failure of this kind. */
export function findStartFailure(error: unknown, config: StartedWith): StartFailure | undefined {
  if (error instanceof SecretKeyMismatch || error instanceof NewerSchema) return halves(error.message)
  const facts = factsOf(error)
  if (facts.syscall === 'listen' || facts.syscall === 'bind') return explainListen(facts, config)
  if (!(error instanceof StorageUnavailable)) return explainFile(facts, config)
  const cause = error.cause === undefined ? facts : factsOf(error.cause)
  return config.database.kind === 'sqlite'
    ? explainSqlite(cause, config.database.file)
    : explainPostgres(cause, new URL(config.database.url.unwrap()))
}

/** One sentence. */
export function startFailureText({ found, fix }: StartFailure): string {
  return `${found}: ${fix}`
}

/** The message of an unexpected error; with its stack only at the log level that asks for it. */
export function unforeseenText(error: unknown, logLevel: Config['logLevel'] | undefined): string {
  if (logLevel === 'debug' || logLevel === 'trace')
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `${wordsOf(error)}\nThis is unexpected. SLUICE_LOG_LEVEL=debug shows where it happened: please report it to the maintainers.`
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const words = error.message === '' ? error.name : error.message
  return error.cause instanceof Error ? `${words} (${wordsOf(error.cause)})` : words
}

/** Splits the message of an error that contains both already. */
function halves(message: string): StartFailure {
  const [found = message, ...rest] = message.split(': ')
  return { found, fix: rest.join(': ') }
}

/** The members of errors of Node, SQLite and PostgreSQL that explain them. */
interface Facts {
  readonly code: string | undefined
  readonly syscall: string | undefined
  readonly path: string | undefined
  readonly address: string | undefined
  readonly port: number | undefined
  /** SQLite's extended result code. */
  readonly errcode: number | undefined
  readonly message: string
}

function factsOf(error: unknown): Facts {
  const members: Readonly<Record<string, unknown>> =
    typeof error === 'object' && error !== null ? { ...error } : {}
  const text = (name: string): string | undefined => {
    const value = members[name]
    return typeof value === 'string' ? value : undefined
  }
  const number = (name: string): number | undefined => {
    const value = members[name]
    return typeof value === 'number' ? value : undefined
  }
  const message = error instanceof Error ? error.message : String(error)
  return {
    code: text('code'),
    syscall: text('syscall'),
    path: text('path'),
    address: text('address'),
    port: number('port'),
    errcode: number('errcode'),
    message: message === '' ? (text('code') ?? 'no reason given') : message,
  }
}

function explainListen(facts: Facts, config: StartedWith): StartFailure | undefined {
  const { port = 0 } = facts
  const [portName, hostName] =
    port === config.opsPort
      ? ['SLUICE_OPS_PORT', config.opsHost === config.host ? 'SLUICE_HOST' : 'SLUICE_OPS_HOST']
      : [port === config.gatewayPort ? 'SLUICE_GATEWAY_PORT' : 'SLUICE_PORT', 'SLUICE_HOST']
  const place = facts.address ?? config.host ?? 'this one'
  const elsewhere = {
    found: `${place} is not an address of this machine`,
    fix: `set ${hostName} to one it has, or unset it`,
  }
  const failures: ReadonlyMap<string, StartFailure> = new Map([
    [
      'EADDRINUSE',
      {
        found: `port ${port} is taken by another program`,
        fix: `stop that one, or set ${portName} to a free port`,
      },
    ],
    [
      'EACCES',
      {
        found: `this user may not listen on port ${port}`,
        fix: `set ${portName} to a port above 1023`,
      },
    ],
    ['EADDRNOTAVAIL', elsewhere],
    ['ENOTFOUND', elsewhere],
  ])
  return failures.get(facts.code ?? '')
}

const OWNED = 'run Sluice as the user that it belongs to, or give it to this one (chown -R)'
const DISK = 'check whether its disk is full or failing'
const ROOM = 'make room on its disk, or set SLUICE_DATA_DIR to a place on a larger one'
const READ_ONLY = 'mount it for writing, or set SLUICE_DATA_DIR to a place that can be written'
const DAMAGED = 'restore a backup with sluice restore, or move the file away to begin with an empty database'

/** `connect` and similar calls have codes with the same names, but no file. */
function explainFile({ code, syscall, path, message }: Facts, config: StartedWith): StartFailure | undefined {
  const why = FILE_FAILURES.get(code ?? '')
  if (why === undefined || (path === undefined && !FILE_WRITES.has(syscall ?? ''))) return undefined
  return { found: `${path ?? config.dataDirectory} ${why.found} (${message})`, fix: why.fix }
}

/** Calls on an open file: their errors do not name it. */
const FILE_WRITES: ReadonlySet<string> = new Set(['write', 'fsync', 'fchmod', 'close', 'ftruncate'])

/** By the system's code. */
const FILE_FAILURES: ReadonlyMap<string, StartFailure> = new Map([
  ['EACCES', { found: 'cannot be used by this user', fix: OWNED }],
  ['EPERM', { found: 'cannot be used by this user', fix: OWNED }],
  ['EROFS', { found: 'lies on a read-only file system', fix: READ_ONLY }],
  ['ENOSPC', { found: 'cannot be written, its disk is full', fix: ROOM }],
  ['EDQUOT', { found: 'cannot be written, the quota is used up', fix: ROOM }],
  ['EIO', { found: 'cannot be read or written', fix: DISK }],
  ['EISDIR', { found: 'is a directory', fix: 'move it away: a file belongs there' }],
  ['ENOTDIR', { found: 'is below a file', fix: 'set SLUICE_DATA_DIR to a directory' }],
  ['EMFILE', { found: 'cannot be opened', fix: 'let the process open more files (ulimit -n 65536)' }],
])

function explainSqlite(facts: Facts, file: string): StartFailure {
  const { found, fix } =
    facts.errcode === undefined
      ? (FILE_FAILURES.get(facts.code ?? '') ?? SQLITE_OTHER)
      : (SQLITE_FAILURES.get(facts.errcode & 0xff) ?? SQLITE_OTHER)
  return { found: `${file} ${found} (${facts.message})`, fix }
}

const SQLITE_OTHER: StartFailure = { found: 'cannot be used', fix: DISK }
const NO_DATABASE: StartFailure = { found: 'is damaged, or not a database', fix: DAMAGED }
const IN_USE: StartFailure = {
  found: 'is held by another program',
  fix: 'stop the program that holds it: another Sluice, an SQLite shell, or a backup tool',
}

/** By SQLite's primary result code (sqlite.org/rescode.html). */
const SQLITE_FAILURES: ReadonlyMap<number, StartFailure> = new Map([
  [3, { found: 'cannot be opened', fix: OWNED }],
  [5, IN_USE],
  [6, IN_USE],
  [8, { found: 'cannot be written', fix: OWNED }],
  [10, { found: 'cannot be read or written', fix: DISK }],
  [11, NO_DATABASE],
  [13, { found: 'cannot be written, its disk is full', fix: ROOM }],
  [14, { found: 'cannot be opened', fix: OWNED }],
  [26, NO_DATABASE],
])

function explainPostgres(facts: Facts, { password }: URL): StartFailure {
  const found = `the database of SLUICE_DATABASE_URL cannot be used (${facts.message})`
  const asked = facts.code === undefined && password === ''
  return { found, fix: POSTGRES_FIXES.get(facts.code ?? '') ?? (asked ? NO_PASSWORD : POSTGRES_OTHER) }
}

const NO_PASSWORD = 'its address names no password: postgres://user:password@host:port/database'
const POSTGRES_OTHER = 'correct the address, and see what the log of PostgreSQL says'
const UNTRUSTED =
  'its certificate is not trusted: name the authority in the address (sslmode=verify-full&sslrootcert=/path)'

/** By the code of the connection, or of PostgreSQL (appendix A of its manual). */
const POSTGRES_FIXES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there; start it, or correct the host and port'],
  ['ENOTFOUND', 'there is no such host; correct its name'],
  ['EAI_AGAIN', 'the host name cannot be resolved right now'],
  ['ETIMEDOUT', 'it does not answer; look at the network and its firewalls'],
  ['EHOSTUNREACH', 'it cannot be reached; look at the network'],
  ['28P01', 'correct the user or the password in the address'],
  ['28000', 'this user may not sign in from here; correct the user, or allow it in pg_hba.conf'],
  ['3D000', 'create the database first (createdb), or correct its name in the address'],
  ['42501', 'its user must own the database to create the tables (alter database … owner to …)'],
  ['53300', 'it has too many connections already; end some, or raise max_connections'],
  ['57P03', 'it is starting or stopping; try again in a moment'],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
])
