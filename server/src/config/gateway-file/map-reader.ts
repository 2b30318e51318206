import { say, type Sentence } from '../../core/sentences/say.ts'
import { nearestName } from '../../core/nearest-name.ts'
import type { FileNode, MapNode, Place, Report } from './file-node.ts'

/** Reads one value; undefined if it is invalid, which has then been reported. */
export type Read<Value> = (node: FileNode, report: Report) => Value | undefined

/**
 * Reads the members of one map by name and records which were read, so that `close` can report unknown ones: the
 * members of a row are defined once, where they are read.
 */
export interface MapReader {
  readonly place: Place
  /** Position of a member; that of the row if it is absent. */
  placeOf(name: string): Place
  has(name: string): boolean
  /** Reports a missing member. */
  required<Value>(name: string, read: Read<Value>): Value | undefined
  /** Absent and null both mean undefined. */
  optional<Value>(name: string, read: Read<Value>): Value | undefined
  /** null means explicitly none. */
  nullable<Value>(name: string, read: Read<Value>): Value | null | undefined
  /** Reports every member that was not read. */
  close(): void
}

/** Position of a member, or where it would be. */
export function memberPlace(map: MapReader, name: string): Place {
  const path = map.place.path === '' ? name : `${map.place.path}.${name}`
  return { ...map.placeOf(name), path }
}

/** undefined: not a map, which has been reported. */
export function openMap(node: FileNode, report: Report): MapReader | undefined {
  if (node.kind === 'map') return readerOf(node, report)
  report(node.place, say(node.kind === 'list' ? 'must-be-a-map-not-a-list' : 'must-be-a-map'))
  return undefined
}

function readerOf(map: MapNode, report: Report): MapReader {
  const asked = new Set<string>()
  const find = (name: string): FileNode | undefined => {
    asked.add(name)
    return map.entries.get(name)?.value
  }
  return {
    place: map.place,
    placeOf: (name) => map.entries.get(name)?.value.place ?? map.place,
    has: (name) => map.entries.has(name),
    required(name, read) {
      const node = find(name)
      if (node !== undefined && !isNull(node)) return read(node, report)
      const path = map.place.path === '' ? name : `${map.place.path}.${name}`
      report({ ...(node?.place ?? map.place), path }, say('missing'))
      return undefined
    },
    optional(name, read) {
      const node = find(name)
      return node === undefined || isNull(node) ? undefined : read(node, report)
    },
    nullable(name, read) {
      const node = find(name)
      if (node === undefined) return undefined
      return isNull(node) ? null : read(node, report)
    },
    close() {
      for (const [name, entry] of map.entries) {
        if (!asked.has(name)) report(entry.keyPlace, unknownField(name, [...asked]))
      }
    },
  }
}

function unknownField(name: string, known: readonly string[]): Sentence {
  const nearest = nearestName(name, known)
  const sentence = say('unknown-field')
  return nearest === undefined
    ? say('known-here', { sentence, names: known.join(', ') })
    : say('did-you-mean', { sentence, name: nearest })
}

export function isNull(node: FileNode): boolean {
  return node.kind === 'scalar' && node.meaning === 'null'
}
