/**
 * The tool calls of one candidate as their pieces arrive. Vendors leave out indices, repeat ids, send two entries of
 * one index in a chunk and interleave parallel calls (docs/protocols.md#trap-2, #trap-3, #trap-11, #trap-12): a piece
 * belongs to the call of its id, else of its index, else to the latest one.
 */
import type { JsonObject } from '../../../json.ts'
import { countOf, objectOf, textOf, wordOf } from '../../read-json.ts'
import { callArguments, callSignature } from '../request/decode-messages.ts'

export interface ToolStream {
  readonly index: number | undefined
  id: string | undefined
  name: string
  kind: 'function' | 'custom'
  /** `undefined` until its name is known. */
  block: number | undefined
  /** Arguments that came before the name. */
  held: string
  sawArguments: boolean
}

export interface ToolPiece {
  readonly tool: ToolStream
  readonly text: string
  readonly signature: ReturnType<typeof callSignature>
}

/** A name comes with the first piece; arguments before it are a handful of characters at most. */
const HELD_LENGTH_MAX = 65_536

export interface ToolStreams {
  /** The call a piece belongs to; `undefined` for an empty piece. */
  take(entry: JsonObject): ToolPiece | undefined
  all(): readonly ToolStream[]
}

export function toolStreams(): ToolStreams {
  const tools: ToolStream[] = []
  const byId = new Map<string, ToolStream>()
  const byIndex = new Map<number, ToolStream>()

  function find({ id, index, name }: Keys): ToolStream | undefined {
    const known = id === undefined ? undefined : byId.get(id)
    if (known !== undefined) return known
    const sameIndex = index === undefined ? undefined : byIndex.get(index)
    if (sameIndex !== undefined) return startsAnew(sameIndex, { id, index, name }) ? undefined : sameIndex
    const opens = name !== '' || id !== undefined || (index !== undefined && tools.length === 0)
    return opens || index !== undefined ? undefined : tools.at(-1)
  }

  function open({ id, index }: Keys, kind: ToolStream['kind']): ToolStream {
    const tool: ToolStream = { index, id, name: '', kind, block: undefined, held: '', sawArguments: false }
    tools.push(tool)
    return tool
  }

  return {
    take(entry) {
      const custom = objectOf(entry.custom)
      const callee = custom ?? objectOf(entry.function) ?? {}
      const keys: Keys = {
        id: wordOf(entry.id),
        index: countOf(entry.index),
        name: textOf(callee.name) ?? '',
      }
      const text = pieceText(custom, callee)
      const signature = callSignature(entry)
      const found = find(keys)
      if (found === undefined && says(keys, text) === false) return undefined
      const tool = found ?? open(keys, custom === undefined ? 'function' : 'custom')
      if (tool.name === '') tool.name = keys.name
      tool.id ??= keys.id
      if (tool.id !== undefined) byId.set(tool.id, tool)
      if (keys.index !== undefined) byIndex.set(keys.index, tool)
      return { tool, text, signature }
    },
    all: () => tools,
  }
}

/** Keeps arguments until the name is known; false when there are too many of them. */
export function holdArguments(tool: ToolStream, text: string): boolean {
  tool.held += text
  return tool.held.length <= HELD_LENGTH_MAX
}

interface Keys {
  readonly id: string | undefined
  readonly index: number | undefined
  readonly name: string
}

/** An index reused for another call: a new id with a name, or another name. */
function startsAnew(tool: ToolStream, { id, name }: Keys): boolean {
  if (name === '' || tool.name === '') return false
  if (id !== undefined && tool.id !== undefined) return id !== tool.id
  return name !== tool.name
}

/** An empty continuation never opens a call. */
function says({ id, name }: Keys, text: string): boolean {
  return name !== '' || id !== undefined || text !== ''
}

function pieceText(custom: JsonObject | undefined, callee: JsonObject): string {
  if (custom !== undefined) return textOf(custom.input) ?? ''
  return callee.arguments === undefined || callee.arguments === null ? '' : callArguments(callee.arguments)
}
