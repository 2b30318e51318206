/** YAML or JSON text → a tree of `FileNode`s. JSON is read as YAML, so both have lines and the same meaning. */
import { say } from '../../core/sentences/say.ts'
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Environment } from '../environment.ts'
import { expandVariables } from './expand.ts'
import type { FileNode, MapEntry, Place, Report, ScalarNode } from './file-node.ts'
import { maskReferences } from './mask.ts'

/** Aliases may expand to very many nodes; no real configuration has more than this. */
const NODES_MAX = 500_000

/** undefined: the file is empty. Unreadable parts are reported and left out. */
export function parseFile(text: string, environment: Environment, report: Report): FileNode | undefined {
  const lineCounter = new LineCounter()
  const masked = maskReferences(text)
  const document = parseDocument(masked.text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    merge: false,
    version: '1.2',
    schema: 'core',
  })
  const placeAt = (offset: number, path: string): Place => {
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1), path }
  }
  for (const error of [...document.errors, ...document.warnings]) {
    report(placeAt(error.pos[0], ''), say('as-said', { said: sentence(error.message) }))
  }
  if (document.errors.length > 0 || document.contents === null) return undefined
  const walk: Walk = {
    document,
    environment,
    unmask: masked.unmask,
    report,
    placeAt,
    open: new Set(),
    nodes: 0,
  }
  return convert(document.contents, '', walk)
}

interface Walk {
  readonly document: Document.Parsed
  readonly environment: Environment
  readonly unmask: (scalar: string) => string
  readonly report: Report
  readonly placeAt: (offset: number, path: string) => Place
  /** Nodes being converted, to detect one that contains itself. */
  readonly open: Set<unknown>
  nodes: number
}

function convert(node: unknown, path: string, walk: Walk): FileNode | undefined {
  walk.nodes += 1
  if (walk.nodes > NODES_MAX) {
    if (walk.nodes === NODES_MAX + 1)
      walk.report({ line: 1, column: 1, path }, say('more-than-values', { most: NODES_MAX }))
    return undefined
  }
  if (isAlias(node)) {
    const place = placeOf(node.range, path, walk)
    const target = node.resolve(walk.document)
    if (target === undefined || walk.open.has(target)) {
      walk.report(
        place,
        target === undefined ? say('no-anchor', { name: node.source }) : say('refers-to-itself'),
      )
      return undefined
    }
    return convert(target, path, walk)
  }
  if (isMap(node)) return within(node, walk, () => convertMap(node, path, walk))
  if (isSeq(node)) return within(node, walk, () => convertList(node, path, walk))
  if (isScalar(node)) return convertScalar(node, path, walk)
  return undefined
}

function within(node: unknown, walk: Walk, work: () => FileNode): FileNode {
  walk.open.add(node)
  const converted = work()
  walk.open.delete(node)
  return converted
}

function convertMap(node: YAMLMap, path: string, walk: Walk): FileNode {
  const entries = new Map<string, MapEntry>()
  const merged: (readonly [string, MapEntry])[] = []
  for (const pair of node.items) {
    const name = nameOf(pair, path, walk)
    if (name === undefined) continue
    const below = path === '' ? name.text : `${path}.${name.text}`
    const keyPlace = { ...name.place, path: below }
    if (name.text === '<<') {
      merged.push(...mergedEntries(pair.value, path, walk))
      continue
    }
    const first = entries.get(name.text)
    if (first !== undefined) {
      walk.report(
        keyPlace,
        say('first-in-line', { sentence: say('appears-twice'), line: first.keyPlace.line }),
      )
      continue
    }
    const value = convert(pair.value, below, walk) ?? emptyScalar(keyPlace)
    entries.set(name.text, { keyPlace, value })
  }
  for (const [name, entry] of merged) if (!entries.has(name)) entries.set(name, entry)
  return { kind: 'map', place: placeOf(node.range, path, walk), entries }
}

/** `<<: *defaults`: entries of the referenced map that the map itself does not have. */
function mergedEntries(value: unknown, path: string, walk: Walk): readonly (readonly [string, MapEntry])[] {
  const source = convert(value, path, walk)
  if (source === undefined) return []
  const maps = source.kind === 'list' ? source.items : [source]
  return maps.flatMap((map) => {
    if (map.kind === 'map') return [...map.entries]
    walk.report(map.place, say('merge-of-maps'))
    return []
  })
}

function convertList(node: YAMLSeq, path: string, walk: Walk): FileNode {
  const items = node.items.flatMap((item, index) => {
    const converted = convert(item, `${path}[${index}]`, walk)
    return converted === undefined ? [] : [converted]
  })
  return { kind: 'list', place: placeOf(node.range, path, walk), items }
}

function convertScalar(node: Scalar, path: string, walk: Walk): ScalarNode {
  const place = placeOf(node.range, path, walk)
  const written = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
  const expansion = expandVariables(walk.unmask(written), walk.environment)
  if (expansion.kind === 'mistakes') {
    for (const message of expansion.messages) walk.report(place, message)
    return emptyScalar(place)
  }
  const { text, expanded } = expansion
  return {
    kind: 'scalar',
    place,
    text,
    expanded,
    meaning: expanded ? meaningOfText(text) : meaningOf(node.value),
  }
}

function meaningOf(value: unknown): ScalarNode['meaning'] {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return typeof value === 'number' || typeof value === 'bigint' ? 'number' : 'text'
}

/** A variable's text has the meaning it would have if written unquoted in its place. */
function meaningOfText(text: string): ScalarNode['meaning'] {
  if (text === '' || text === '~' || text === 'null') return 'null'
  if (text === 'true' || text === 'false') return text
  return /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text) ? 'number' : 'text'
}

function nameOf(
  pair: Pair,
  path: string,
  walk: Walk,
): { readonly text: string; readonly place: Place } | undefined {
  if (isScalar(pair.key)) {
    const { key } = pair
    const text = typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
    return { text, place: placeOf(key.range, path, walk) }
  }
  walk.report(walk.placeAt(0, path), say('name-plain-text'))
  return undefined
}

function emptyScalar(place: Place): ScalarNode {
  return { kind: 'scalar', place, text: '', meaning: 'null', expanded: false }
}

function placeOf(range: readonly number[] | null | undefined, path: string, walk: Walk): Place {
  return walk.placeAt(range?.[0] ?? 0, path)
}

/** The parser's own message, beginning in lower case like the others. */
function sentence(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1)
}
