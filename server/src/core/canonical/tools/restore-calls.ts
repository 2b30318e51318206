/**
 * Tool calls of an answer in the client's own terms: the names it declared, its namespaces, and free text where its
 * tool takes free text but the upstream only knew functions (`custom-tools.ts`).
 */
import { unwrapCustomInput } from './custom-tools.ts'
import type { CanonicalRequest } from '../request.ts'
import type { BlockStart, ToolCallBlock } from '../response.ts'
import { findTools } from './tool-names.ts'

export type ToolCallStart = Extract<BlockStart, { type: 'tool-call' }>

export interface RestoredCall {
  readonly start: ToolCallStart
  /** Reads the free text out of the arguments; undefined: the arguments are the client's as they are. */
  readonly input: CustomInputReader | undefined
}

export interface CallRestorer {
  start(call: ToolCallStart): RestoredCall
  whole(call: ToolCallBlock): ToolCallBlock
}

const NAME_LENGTH_MAX = 64

export function callRestorer({ tools }: CanonicalRequest): CallRestorer {
  if (tools.length === 0) return UNCHANGED
  const find = findTools(tools, NAME_LENGTH_MAX)
  function restore(call: ToolCallStart): ToolCallStart {
    // An upstream with namespaces of its own answers in the client's terms already.
    if (call.namespace !== undefined) return call
    const { name, namespace, kind } = find(call.name)
    return { ...call, name, namespace, kind: call.kind === 'custom' ? 'custom' : kind }
  }
  return {
    start(call) {
      const start = restore(call)
      const wrapped = start.kind === 'custom' && call.kind === 'function'
      return { start, input: wrapped ? new CustomInputReader() : undefined }
    },
    whole(call) {
      const { name, namespace, kind } = restore(call)
      const wrapped = kind === 'custom' && call.kind === 'function'
      const text = wrapped ? unwrapCustomInput(call.arguments) : call.arguments
      return { ...call, name, namespace, kind, arguments: text }
    },
  }
}

const UNCHANGED: CallRestorer = {
  start: (start) => ({ start, input: undefined }),
  whole: (call) => call,
}

/**
 * Arguments that do not begin as expected are buffered until they are complete, up to this length; no tool takes this
 * much text.
 */
const WHOLE_LENGTH_MAX = 16 * 1024 * 1024
const HEAD = '{"input":"'

/** The value of `input` as it streams, escapes resolved, without waiting for its end. */
export class CustomInputReader {
  #mode: 'head' | 'text' | 'after' | 'whole' = 'head'
  /** What was read but not yet returned: the head, half an escape, or everything. */
  #held = ''

  push(piece: string): string {
    switch (this.#mode) {
      case 'head':
        return this.#readHead(piece)
      case 'text':
        return this.#readText(this.#held + piece)
      case 'whole':
        if (this.#held.length < WHOLE_LENGTH_MAX) this.#held += piece
        return ''
      case 'after':
        return ''
    }
  }

  /** The remaining text once the arguments are complete. */
  end(): string {
    const held = this.#held
    this.#held = ''
    if (this.#mode === 'head' || this.#mode === 'whole') return held === '' ? '' : unwrapCustomInput(held)
    return ''
  }

  #readHead(piece: string): string {
    this.#held += piece
    const matched = matchHead(this.#held)
    if (matched === undefined) this.#mode = 'whole'
    if (matched === undefined || matched === 'partly') return ''
    this.#mode = 'text'
    return this.#readText(this.#held.slice(matched))
  }

  #readText(text: string): string {
    this.#held = ''
    let told = ''
    let at = 0
    while (at < text.length) {
      const next = nextSpecial(text, at)
      told += text.slice(at, next)
      if (next === text.length) break
      if (text.charAt(next) === '"') {
        this.#mode = 'after'
        break
      }
      const escape = escapeAt(text, next)
      if (escape === undefined) {
        this.#held = text.slice(next)
        break
      }
      told += escape.character
      at = next + escape.length
    }
    return told
  }
}

/** Length of the head in characters, white space allowed between its tokens; `partly`: it may be incomplete. */
function matchHead(text: string): number | 'partly' | undefined {
  let matched = 0
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at)
    if (sign === HEAD.charAt(matched)) matched += 1
    else if (!/\s/.test(sign)) return undefined
    if (matched === HEAD.length) return at + 1
  }
  return 'partly'
}

function nextSpecial(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charAt(at)
    if (sign === '"' || sign === '\\') return at
  }
  return text.length
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** `undefined`: the escape is not complete yet. A surrogate pair is returned together. */
function escapeAt(
  text: string,
  at: number,
): { readonly character: string; readonly length: number } | undefined {
  const sign = text.charAt(at + 1)
  if (sign === '') return undefined
  if (sign !== 'u') return { character: ESCAPES[sign] ?? sign, length: 2 }
  if (text.length < at + 6) return undefined
  const unit = Number.parseInt(text.slice(at + 2, at + 6), 16)
  const character = String.fromCharCode(Number.isNaN(unit) ? 0xfffd : unit)
  const high = unit >= 0xd800 && unit < 0xdc00
  if (!high) return { character, length: 6 }
  if (text.length < at + 12)
    return text.charAt(at + 6) === '' || text.charAt(at + 6) === '\\' ? undefined : { character, length: 6 }
  const low = Number.parseInt(text.slice(at + 8, at + 12), 16)
  const paired = text.startsWith('\\u', at + 6) && low >= 0xdc00 && low < 0xe000
  return paired ? { character: character + String.fromCharCode(low), length: 12 } : { character, length: 6 }
}
