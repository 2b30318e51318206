import type { Writable } from 'node:stream'
import type { JsonValue } from '../core/json.ts'

/** A command's environment: everything external is passed in. */
export interface Console {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly workingDirectory: string
  /** Epoch ms. */
  readonly now: () => number
  readonly out: (text: string) => void
  /** Messages for people: what was done, what is wrong. */
  readonly err: (text: string) => void
  readonly readInput: () => Promise<string>
  /** Binary input and output; absent if there is none. */
  readonly input?: AsyncIterable<Uint8Array>
  readonly output?: Writable
  /** For commands that run until interrupted: the interruption, and waiting. Absent: not supported. */
  readonly patience?: Patience
}

export interface Patience {
  /** Call once; from then on an interruption ends the command cleanly. */
  readonly interruption: () => AbortSignal
  /** Resolves early, without an error, when the signal aborts. */
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

/** One document, indented, since people read it too. */
export function jsonText(value: JsonValue): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Stored text may contain anything; control characters are removed for terminals. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
