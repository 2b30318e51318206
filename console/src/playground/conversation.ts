/** A conversation in a neutral format, which each protocol encodes in its own way. */
import { isRecord, type Json, type JsonRecord, parseJson, textOf } from '../parts/values/json.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly input: string
  /** Opaque data that the vendor expects back with the call. */
  readonly signature?: string | undefined
}

export interface Picture {
  readonly name: string
  /** `image/png`. */
  readonly type: string
  readonly base64: string
}

/** The reply so far. */
export interface Reply {
  readonly text: string
  readonly thoughts: string
  readonly calls: readonly ToolCall[]
  /** The error that ended the reply; undefined: none. */
  readonly failure?: string | undefined
}

export type Turn =
  | { readonly by: 'person'; readonly text: string; readonly pictures: readonly Picture[] }
  | ({ readonly by: 'model' } & Reply)
  | { readonly by: 'tool'; readonly call: ToolCall; readonly text: string }

export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON schema. */
  readonly parameters: JsonRecord
}

export interface Parameters {
  readonly system: string
  /** A list of tools as JSON text. */
  readonly tools: string
  readonly temperature: number | undefined
  readonly topP: number | undefined
  /** Tokens of the answer. */
  readonly cap: number | undefined
  readonly stream: boolean
}

export const NO_REPLY: Reply = { text: '', thoughts: '', calls: [] }

/** undefined: the text is not a list of tools. */
export function readTools(text: string): readonly Tool[] | undefined {
  if (text.trim() === '') return []
  const value = parseJson(text)
  if (!Array.isArray(value)) return undefined
  const tools = (value as readonly Json[]).map(toolOf)
  return tools.every((tool) => tool !== undefined) ? tools : undefined
}

/** Also accepts the vendors' formats, so that existing tools can be pasted. */
function toolOf(value: Json): Tool | undefined {
  if (!isRecord(value)) return undefined
  const inner = isRecord(value['function']) ? value['function'] : value
  const name = textOf(inner['name'])
  if (name === '') return undefined
  const schema = inner['parameters'] ?? inner['input_schema']
  return {
    name,
    description: textOf(inner['description']),
    parameters: isRecord(schema) ? schema : { type: 'object', properties: {} },
  }
}

/** Tool calls of the last turn without a result. */
export function openCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const at = turns.findLastIndex(({ by }) => by === 'model')
  const last = turns[at]
  if (last?.by !== 'model') return []
  const answered = new Set(turns.slice(at + 1).flatMap((turn) => (turn.by === 'tool' ? [turn.call.id] : [])))
  return last.calls.filter(({ id }) => !answered.has(id))
}

/** A copy of the list with one element set or changed. */
export function replaced<Value>(list: readonly Value[], at: number, value: Value): readonly Value[] {
  return list.toSpliced(at, 1, value)
}
