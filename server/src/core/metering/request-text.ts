/** What a tokenizer should count of a request: the words the model will read, in any of the four protocols. */
import { isJsonArray } from '../canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../json.ts'

export interface RequestText {
  /** Prompt text, tool declarations and tool results, in order. */
  readonly texts: readonly string[]
  /** Messages, items or contents: each costs a few tokens of framing. */
  readonly messages: number
  /** Images and files, which are counted by the piece. */
  readonly media: number
  /** Tokens that the client sent as numbers in place of text. Absent: none. */
  readonly tokens?: number
}

/** Members that hold the conversation, by any protocol's name for it. */
const CONVERSATION = [
  'system',
  'instructions',
  'messages',
  'input',
  'contents',
  'systemInstruction',
  'tools',
  'functions',
] as const
/** Members that are settings or identifiers, never read by the model. */
const UNREAD: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'signature',
  'encrypted_content',
  'thoughtSignature',
  'cache_control',
  'media_type',
  'mimeType',
  'detail',
  'status',
  'format',
])
/** Members that hold an image, a sound or a file rather than words. */
const MEDIA: ReadonlySet<string> = new Set([
  'image_url',
  'source',
  'inlineData',
  'fileData',
  'input_audio',
  'file',
  'file_data',
  'file_url',
])

export function readRequestText(body: JsonValue): RequestText {
  const found = { texts: [] as string[], messages: 0, media: 0 }
  if (!isJsonObject(body)) return found
  const pending: JsonValue[] = []
  for (const name of CONVERSATION.toReversed()) {
    const value = body[name]
    if (value === undefined) continue
    pending.push(value)
    if (Array.isArray(value)) found.messages += value.length
    else if (name === 'input') found.messages += 1
  }
  // An explicit stack: a body may be nested deeper than the call stack is.
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') found.texts.push(value)
    else if (isJsonArray(value)) for (const item of value.toReversed()) pending.push(item)
    else if (isJsonObject(value)) pushMembers(value, pending, found)
  }
  return found
}

function pushMembers(
  value: Readonly<Record<string, JsonValue | undefined>>,
  pending: JsonValue[],
  found: { media: number; texts: string[] },
): void {
  for (const [name, member] of Object.entries(value).toReversed()) {
    if (member === undefined || UNREAD.has(name)) continue
    if (MEDIA.has(name)) found.media += 1
    else pending.push(member)
  }
}
