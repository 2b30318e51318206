/**
 * The messages of PostgreSQL's extended query protocol, several per write. Arrays are sent in binary, so that text with
 * quotes, such as JSON, need not be escaped here or parsed character by character by the server.
 */
import { Buffer } from 'node:buffer'
import type { Cell, ColumnKind } from '../sql/table.ts'

/** All cells of one column, for a parameter of type `text[]` or `bigint[]`. */
export interface ColumnCells {
  readonly kind: ColumnKind
  readonly cells: readonly Cell[]
}

/** One value in the server's text format, or a column. */
export type Parameter = ColumnCells | string | null

const INITIAL_BYTES = 65_536
/** A larger buffer is not kept after a large batch. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024
const UTF8_BYTES_MAX = 3
/** Header of a column before its cells: dimensions, whether there are nulls, type, length, lower bound. */
const ARRAY_HEAD_BYTES = 20
const ELEMENT_TYPES: Readonly<Record<ColumnKind, number>> = { text: 25, integer: 20 }
const INTEGER_BYTES = 8
const NULL_LENGTH = -1
const TEXT_FORMAT = 0
const BINARY_FORMAT = 1
const TWO_TO_32 = 0x1_0000_0000

export class MessageWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  #at = 0

  /** Prepares a statement under this name; an unnamed one lasts until the next. */
  parse(name: string, text: string): void {
    const from = this.#begin('P')
    this.#cString(name)
    this.#cString(text)
    this.#int16(0)
    this.#end(from)
  }

  /** Requests the columns of a prepared statement's rows. */
  describe(name: string): void {
    const from = this.#begin('D')
    this.#byte('S')
    this.#cString(name)
    this.#end(from)
  }

  /** Runs a prepared statement; its result is text. */
  run(name: string, values: readonly Parameter[]): void {
    const from = this.#begin('B')
    this.#cString('')
    this.#cString(name)
    this.#int16(values.length)
    for (const value of values) this.#int16(isColumn(value) ? BINARY_FORMAT : TEXT_FORMAT)
    this.#int16(values.length)
    for (const value of values) this.#parameter(value)
    this.#int16(0)
    this.#end(from)
    const execute = this.#begin('E')
    this.#cString('')
    this.#int32(0)
    this.#end(execute)
  }

  /** The server answers everything before it at once; after an error it skips everything up to here. */
  sync(): void {
    this.#end(this.#begin('S'))
  }

  /** What was written; valid until the next write. */
  take(): Uint8Array {
    const taken = this.#buffer.subarray(0, this.#at)
    this.#at = 0
    if (this.#buffer.byteLength > KEPT_BYTES_MAX) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES)
    return taken
  }

  /** Discards what was written. */
  clear(): void {
    this.#at = 0
  }

  #parameter(value: Parameter): void {
    if (value === null) {
      this.#int32(NULL_LENGTH)
      return
    }
    if (!isColumn(value)) {
      this.#text(value)
      return
    }
    const from = this.#at
    this.#int32(0)
    this.#column(value)
    this.#buffer.writeInt32BE(this.#at - from - 4, from)
  }

  #column({ kind, cells }: ColumnCells): void {
    this.#reserve(ARRAY_HEAD_BYTES)
    this.#int32(cells.length === 0 ? 0 : 1)
    this.#int32(cells.includes(null) ? 1 : 0)
    this.#int32(ELEMENT_TYPES[kind])
    if (cells.length === 0) return
    this.#int32(cells.length)
    this.#int32(1)
    for (const cell of cells) {
      if (cell === null) this.#int32(NULL_LENGTH)
      else if (kind === 'text') this.#text(typeof cell === 'string' ? cell : String(cell))
      else this.#integer(cell)
    }
  }

  #text(text: string): void {
    this.#reserve(4 + text.length * UTF8_BYTES_MAX)
    const length = this.#buffer.write(text, this.#at + 4, 'utf8')
    this.#buffer.writeInt32BE(length, this.#at)
    this.#at += 4 + length
  }

  #integer(cell: string | number | bigint): void {
    this.#reserve(4 + INTEGER_BYTES)
    this.#buffer.writeInt32BE(INTEGER_BYTES, this.#at)
    if (typeof cell === 'bigint') this.#buffer.writeBigInt64BE(cell, this.#at + 4)
    else if (Number.isSafeInteger(cell)) {
      const high = Math.floor(Number(cell) / TWO_TO_32)
      this.#buffer.writeInt32BE(high, this.#at + 4)
      this.#buffer.writeUInt32BE(Number(cell) - high * TWO_TO_32, this.#at + 8)
    } else throw new Error('a column of integers is given something else')
    this.#at += 4 + INTEGER_BYTES
  }

  #begin(code: string): number {
    this.#byte(code)
    this.#int32(0)
    return this.#at - 4
  }

  /** The length includes itself, but not the type byte before it. */
  #end(from: number): void {
    this.#buffer.writeInt32BE(this.#at - from, from)
  }

  #byte(letter: string): void {
    this.#reserve(1)
    this.#buffer[this.#at] = letter.charCodeAt(0)
    this.#at += 1
  }

  #int16(value: number): void {
    this.#reserve(2)
    this.#at = this.#buffer.writeInt16BE(value, this.#at)
  }

  #int32(value: number): void {
    this.#reserve(4)
    this.#at = this.#buffer.writeInt32BE(value, this.#at)
  }

  #cString(text: string): void {
    this.#reserve(text.length * UTF8_BYTES_MAX + 1)
    this.#at += this.#buffer.write(text, this.#at, 'utf8')
    this.#buffer[this.#at] = 0
    this.#at += 1
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.byteLength) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.byteLength * 2, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

function isColumn(value: Parameter): value is ColumnCells {
  return typeof value === 'object' && value !== null
}
