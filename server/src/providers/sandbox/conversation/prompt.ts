/** What the sandbox reads from a request of any protocol. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'

export interface Prompt {
  /** Everything a model would read, for counting. */
  readonly read: readonly string[]
  readonly lastUserText: string
  /** Images, sounds and files in the last user turn. */
  readonly attachments: number
  /** Results that came after the last user text. */
  readonly toolResults: readonly ToolResult[]
  readonly tools: readonly PromptTool[]
  readonly toolChoice: PromptToolChoice
  readonly parallelToolCalls: boolean
  readonly maxOutputTokens: number | undefined
  readonly stop: readonly string[]
  readonly format: PromptFormat
  /** false: the client switched reasoning off. */
  readonly reasoning: boolean
  readonly stream: boolean
}

export interface ToolResult {
  readonly name: string
  readonly text: string
}

export interface PromptTool {
  readonly name: string
  readonly kind: 'function' | 'custom'
  readonly schema: JsonValue | undefined
}

export type PromptToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }

export type PromptFormat =
  | { readonly kind: 'text' | 'json' }
  | { readonly kind: 'json-schema'; readonly schema: JsonValue }

export const AUTO: PromptToolChoice = { kind: 'auto' }

/** The members of an array; none of anything else. */
export function items(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}

function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

export function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return items(value).filter(isJsonObject)
}

export function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

export function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

export function positive(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value > 0 ? Math.floor(value) : undefined
}

export function strings(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  return items(value)
    .map(text)
    .filter((item) => item !== '')
}

/** The texts among content parts, or the content if it is one text. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  return objects(content)
    .map((part) => text(part['text']))
    .filter((piece) => piece !== '')
    .join('\n')
}

/** Members that contain bytes or blobs rather than text. */
const NO_WORDS: ReadonlySet<string> = new Set([
  'data',
  'url',
  'image_url',
  'file_data',
  'file_url',
  'fileUri',
  'signature',
  'encrypted_content',
  'thoughtSignature',
])

/** All strings within `value` that a model would read. */
export function wordsBelow(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  if (!isJsonObject(value)) return items(value).flatMap(wordsBelow)
  return Object.entries(value).flatMap(([name, item]) => (NO_WORDS.has(name) ? [] : wordsBelow(item)))
}
