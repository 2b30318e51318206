/** A conversation in no vendor's format: what is on the page, and what every protocol writes in its own way. */
import { isRecord, type Json, type JsonRecord, parseJson, textOf } from '../parts/values/json.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly input: string
  /** What a vendor wants back with the call, as it came. */
  readonly signature?: string | undefined
}

export interface Picture {
  readonly name: string
  /** `image/png`. */
  readonly type: string
  readonly base64: string
}

/** What a model said so far. */
export interface Reply {
  readonly text: string
  readonly thoughts: string
  readonly calls: readonly ToolCall[]
  /** In the words of who broke it off; undefined: nothing went wrong. */
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

/** undefined: the text is no list of tools. */
export function readTools(text: string): readonly Tool[] | undefined {
  if (text.trim() === '') return []
  const value = parseJson(text)
  if (!Array.isArray(value)) return undefined
  const tools = (value as readonly Json[]).map(toolOf)
  return tools.every((tool) => tool !== undefined) ? tools : undefined
}

/** As vendors write them too, so that what one has can be pasted. */
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

/** Calls of the last turn that nobody has answered yet. */
export function openCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const at = turns.findLastIndex(({ by }) => by === 'model')
  const last = turns[at]
  if (last?.by !== 'model') return []
  const answered = new Set(turns.slice(at + 1).flatMap((turn) => (turn.by === 'tool' ? [turn.call.id] : [])))
  return last.calls.filter(({ id }) => !answered.has(id))
}

/** The list with one element put or changed at its place. */
export function replaced<Value>(list: readonly Value[], at: number, value: Value): readonly Value[] {
  return list.toSpliced(at, 1, value)
}
