/**
 * Arguments that Vertex streams piece by piece, each piece with the JSON path it belongs to
 * (docs/protocols.md#gemini-streams): a small tree that grows until the call ends. Bounded, because paths come from
 * outside.
 */
import type { JsonObject, JsonValue } from '../../../json.ts'
import { flagOf, numberOf, textOf } from '../../read-json.ts'

/** Steps of one path; real ones have under ten. */
const STEPS_MAX = 64

export interface PartialArguments {
  /** False: the piece does not fit into the tree. */
  add(piece: JsonObject): boolean
  /** The arguments so far, as JSON text. */
  text(): string
}

export function collectArguments(): PartialArguments {
  const root: ObjectNode = { kind: 'object', members: new Map() }
  return {
    add(piece) {
      const steps = parsePath(textOf(piece.jsonPath) ?? '$')
      return steps !== undefined && place(root, steps, piece)
    },
    text: () => JSON.stringify(settled(root)),
  }
}

type Node = ObjectNode | ArrayNode | TextNode | LeafNode

/** A map, so that no name is special. */
interface ObjectNode {
  readonly kind: 'object'
  readonly members: Map<string, Node>
}

interface ArrayNode {
  readonly kind: 'array'
  readonly items: Node[]
}

/** Texts arrive in several pieces. */
interface TextNode {
  readonly kind: 'text'
  readonly pieces: string[]
}

interface LeafNode {
  readonly kind: 'leaf'
  readonly value: JsonValue
}

type Step = string | number

/** `$.operations[0]['a b'].name`; undefined when it is no such path. */
function parsePath(path: string): readonly Step[] | undefined {
  const steps: Step[] = []
  const pattern = /\.([^.[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
  pattern.lastIndex = path.startsWith('$') ? 1 : 0
  while (pattern.lastIndex < path.length) {
    const match = pattern.exec(path)
    if (match === null || steps.length === STEPS_MAX) return undefined
    const [, name, index, single, double] = match
    steps.push(index === undefined ? (name ?? unquoted(single ?? double ?? '')) : Number(index))
  }
  return steps
}

function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}

function place(root: ObjectNode, steps: readonly Step[], piece: JsonObject): boolean {
  let node: Node = root
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]
    const child: Node | undefined =
      childAt(node, step) ?? attach(node, step, next === undefined ? leafOf(piece) : emptyFor(next))
    if (child === undefined) return false
    if (next === undefined) return append(child, piece)
    node = child
  }
  return false
}

function childAt(node: Node, step: Step): Node | undefined {
  if (node.kind === 'object' && typeof step === 'string') return node.members.get(step)
  return node.kind === 'array' && typeof step === 'number' ? node.items[step] : undefined
}

/** An array grows only by its next index: with gaps, one path could reserve much memory. */
function attach(node: Node, step: Step, child: Node | undefined): Node | undefined {
  if (child === undefined) return undefined
  if (node.kind === 'object' && typeof step === 'string') {
    node.members.set(step, child)
    return child
  }
  if (node.kind !== 'array' || step !== node.items.length) return undefined
  node.items.push(child)
  return child
}

function emptyFor(next: Step): Node {
  return typeof next === 'number' ? { kind: 'array', items: [] } : { kind: 'object', members: new Map() }
}

function leafOf(piece: JsonObject): Node | undefined {
  if (typeof piece.stringValue === 'string') return { kind: 'text', pieces: [] }
  const value = numberOf(piece.numberValue) ?? flagOf(piece.boolValue)
  if (value !== undefined) return { kind: 'leaf', value }
  return piece.nullValue === undefined ? undefined : { kind: 'leaf', value: null }
}

function append(node: Node, piece: JsonObject): boolean {
  if (node.kind === 'text') node.pieces.push(textOf(piece.stringValue) ?? '')
  return node.kind === 'text' || node.kind === 'leaf'
}

function settled(node: Node): JsonValue {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries([...node.members].map(([name, child]) => [name, settled(child)]))
    case 'array':
      return node.items.map(settled)
    case 'text':
      return node.pieces.join('')
    case 'leaf':
      return node.value
  }
}
