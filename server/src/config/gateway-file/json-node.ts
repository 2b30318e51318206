/** A parsed JSON value as a tree for the gateway file's readers, so that a request is checked like a file. */
import type { JsonValue } from '../../core/json.ts'
import type { FileNode, MapEntry, Place, ScalarNode } from './file-node.ts'

/** A request has paths but no lines. */
export function placeAt(path: string): Place {
  return { line: 1, column: 1, path }
}

export function jsonNode(value: JsonValue, path = ''): FileNode {
  const place = placeAt(path)
  if (typeof value === 'object' && value !== null) {
    return isList(value)
      ? { kind: 'list', place, items: value.map((item, index) => jsonNode(item, `${path}[${index}]`)) }
      : { kind: 'map', place, entries: new Map(entriesOf(value, path)) }
  }
  return { kind: 'scalar', place, text: String(value), meaning: meaningOf(value), expanded: false }
}

function meaningOf(value: null | boolean | number | string): ScalarNode['meaning'] {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return typeof value === 'number' ? 'number' : 'text'
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function entriesOf(
  value: Readonly<Record<string, JsonValue | undefined>>,
  path: string,
): [string, MapEntry][] {
  return Object.entries(value).flatMap(([name, member]): [string, MapEntry][] => {
    if (member === undefined) return []
    const at = path === '' ? name : `${path}.${name}`
    return [[name, { keyPlace: placeAt(at), value: jsonNode(member, at) }]]
  })
}
