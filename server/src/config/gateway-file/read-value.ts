import { say } from '../../core/sentences/say.ts'
import type { FileNode, Mistake, Report } from './file-node.ts'
import type { Read } from './map-reader.ts'
import { parseFile } from './parse.ts'

export type ValueResult<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }

/** One value in the gateway file's form, as a command line takes it: `{concurrency: 5}`, `2030-01-31`. */
export function readValue<Value>(text: string, read: Read<Value>): ValueResult<Value> {
  return checked((report) => parseFile(text, {}, report), read)
}

/** The same for a value in a request. */
export function readNode<Value>(node: FileNode, read: Read<Value>): ValueResult<Value> {
  return checked(() => node, read)
}

function checked<Value>(
  nodeOf: (report: Report) => FileNode | undefined,
  read: Read<Value>,
): ValueResult<Value> {
  const mistakes: Mistake[] = []
  const report: Report = (place, message) => mistakes.push({ place, message })
  const node = nodeOf(report)
  const value = node === undefined ? undefined : read(node, report)
  if (value !== undefined && mistakes.length === 0) return { kind: 'value', value }
  const nothing: Mistake = { place: { line: 1, column: 1, path: '' }, message: say('is-empty') }
  return { kind: 'mistakes', mistakes: mistakes.length === 0 ? [nothing] : mistakes }
}
