import type { Writable } from 'node:stream'
import type { JsonValue } from '../core/json.ts'

/** Where a command runs and what it may see: everything outside is passed in. */
export interface Console {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  /** Epoch ms. */
  readonly now: () => number
  readonly out: (text: string) => void
  /** For people: what was done, what is wrong. */
  readonly err: (text: string) => void
  readonly readInput: () => Promise<string>
  /** Bytes in and out, for what is no text; absent where there are none. */
  readonly input?: AsyncIterable<Uint8Array>
  readonly output?: Writable
  /** For what goes on until it is told to stop: when that is, and how it waits meanwhile. Absent: it is not done. */
  readonly patience?: Patience
}

export interface Patience {
  /** Asked for once; from then on an interruption ends the command in order. */
  readonly interruption: () => AbortSignal
  /** Resolves early, without an error, when the signal says so. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

export type Cell = string | number | undefined

/** Columns as wide as their widest cell; an absent cell is a dash. */
export function tableText(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = [head, ...rows].map((row) =>
    row.map((cell) => printable(cell === undefined || cell === '' ? '-' : String(cell))),
  )
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)))
  return texts
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** One document, laid out for reading, since people look at it too. */
export function jsonText(value: JsonValue): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** What is stored may hold anything; a terminal gets no control characters from it. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
