/** A parsed JSON value as the tree the gateway file's readers read, so that a request is checked like a file. */
import type { JsonValue } from '../../core/json.ts'
import type { FileNode, MapEntry, Place } from './file-node.ts'

/** A request has paths, no lines. */
export function placeAt(path: string): Place {
  return { line: 1, column: 1, path }
}

export function jsonNode(value: JsonValue, path = ''): FileNode {
  const place = placeAt(path)
  if (value === null) return { kind: 'scalar', place, text: 'null', meaning: 'null', expanded: false }
  switch (typeof value) {
    case 'boolean':
      return {
        kind: 'scalar',
        place,
        text: String(value),
        meaning: value ? 'true' : 'false',
        expanded: false,
      }
    case 'number':
      return { kind: 'scalar', place, text: String(value), meaning: 'number', expanded: false }
    case 'string':
      return { kind: 'scalar', place, text: value, meaning: 'text', expanded: false }
    case 'object':
      return isList(value)
        ? { kind: 'list', place, items: value.map((item, index) => jsonNode(item, `${path}[${index}]`)) }
        : { kind: 'map', place, entries: new Map(entriesOf(value, path)) }
  }
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
