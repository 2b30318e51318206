/**
 * A backup as text: one JSON value per line, compressed with gzip in a file. It begins with a header, then come the
 * tables, each with its columns, its rows as arrays and their digest, then optionally stored files, and at the end the
 * hash of everything before. Integers are written as strings, so that no reader rounds money; sealed secrets stay
 * sealed.
 */
import { createHash } from 'node:crypto'
import type { EngineName } from '../sql/migrations.ts'

export const ARCHIVE_FORMAT = 'sluice-backup'
/** Raised when readers of the previous format would misread it. */
export const ARCHIVE_VERSION = 1

export type Cell = string | bigint | null
export type CellKind = 'text' | 'integer'

export interface ArchiveColumn {
  readonly name: string
  readonly kind: CellKind
}

export interface ArchiveBegin {
  readonly record: 'begin'
  readonly format: typeof ARCHIVE_FORMAT
  readonly version: number
  /** ISO 8601. */
  readonly made_at: string
  /** Of Sluice. */
  readonly made_by: string
  /** The newest migration of the database. */
  readonly schema: number
  readonly engine: EngineName
}

export interface ArchiveTable {
  readonly record: 'table'
  readonly name: string
  readonly columns: readonly ArchiveColumn[]
}

export interface ArchiveTableEnd {
  readonly record: 'end-table'
  readonly name: string
  readonly rows: number
  /** `RowDigest`, lower-case hex. */
  readonly digest: string
  /** The last row id that the database assigned, as a decimal; absent if it assigns none. */
  readonly last_id?: string
}

export interface ArchiveBlob {
  readonly record: 'blob'
  readonly key: string
  readonly media_type: string
  readonly bytes: number
}

export interface ArchiveBlobEnd {
  readonly record: 'end-blob'
  readonly key: string
  /** Lower-case hex. */
  readonly sha256: string
}

export interface ArchiveEnd {
  readonly record: 'end'
  readonly tables: number
  readonly rows: number
  readonly blobs: number
  /** Of every line before this one with its line break, lower-case hex. */
  readonly sha256: string
}

export type ArchiveRecord =
  | ArchiveBegin
  | ArchiveTable
  | ArchiveTableEnd
  | ArchiveBlob
  | ArchiveBlobEnd
  | ArchiveEnd

/** Counts of what was written or read. */
export interface ArchiveSummary {
  readonly begin: ArchiveBegin
  readonly tables: readonly Pick<ArchiveTableEnd, 'name' | 'rows' | 'digest'>[]
  readonly rows: number
  readonly blobs: number
  readonly sha256: string
}

/** The archive is incomplete, not a Sluice archive, or was changed. */
export class ArchiveDamaged extends Error {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ArchiveDamaged'
  }
}

export function encodeRow(cells: readonly Cell[]): string {
  return JSON.stringify(cells.map((cell) => (typeof cell === 'bigint' ? cell.toString() : cell)))
}

const MODULUS = 1n << 256n

/** Independent of the rows' order, because engines sort text differently. Sum of the rows' SHA-256, modulo 2^256. */
export class RowDigest {
  #sum = 0n
  #rows = 0

  add(line: string): void {
    this.#sum = (this.#sum + BigInt(`0x${createHash('sha256').update(line).digest('hex')}`)) % MODULUS
    this.#rows += 1
  }

  get rows(): number {
    return this.#rows
  }

  hex(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
