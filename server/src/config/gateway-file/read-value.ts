import type { Mistake } from './file-node.ts'
import type { Read } from './map-reader.ts'
import { parseFile } from './parse.ts'

export type ValueResult<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }

/** One value in the gateway file's form, as a command line takes it: `{concurrency: 5}`, `2030-01-31`. */
export function readValue<Value>(text: string, read: Read<Value>): ValueResult<Value> {
  const mistakes: Mistake[] = []
  const report = (place: Mistake['place'], message: string) => mistakes.push({ place, message })
  const node = parseFile(text, {}, report)
  const value = node === undefined ? undefined : read(node, report)
  if (value !== undefined && mistakes.length === 0) return { kind: 'value', value }
  const nothing: Mistake = { place: { line: 1, column: 1, path: '' }, message: 'says nothing' }
  return { kind: 'mistakes', mistakes: mistakes.length === 0 ? [nothing] : mistakes }
}
