/**
 * What a kept response consists of, and how it is read again: the items a client sent, the response it got, both in
 * this protocol's own form, so that they can precede the next request's items.
 */
import { isJsonArray } from '../../../canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { withPrefix } from '../../prefix.ts'
import { listOf, wordOf } from '../../read-json.ts'

/** The response id that clients get for a converted call. */
export function responseIdOf(callId: string): string {
  return withPrefix('resp_', callId)
}

/** The answer that an item was part of, from the form of its id; undefined: the id is not the gateway's. */
export function responseIdOfItem(itemId: string): string | undefined {
  const [, callId] = ITEM_ID.exec(itemId) ?? []
  return callId === undefined ? undefined : responseIdOf(callId)
}

/** As `itemId` in `items.ts` writes them. */
const ITEM_ID = /^[a-z]+_([\w-]+)_\d{1,5}$/

/** A text equals one user message (docs/reference/contract.md#4.2). */
export function inputItems(input: JsonValue | undefined): readonly JsonValue[] {
  if (isJsonArray(input)) return input
  return typeof input === 'string' && input !== '' ? [{ role: 'user', content: input }] : []
}

/** The JSON text of a kept turn; `input` as items, or as the text of their array. */
export function writeTurn(input: readonly JsonValue[] | string, responseJson: string): string {
  return `{"input":${typeof input === 'string' ? input : JSON.stringify(input)},"response":${responseJson}}`
}

export interface Turn {
  readonly input: readonly JsonValue[]
  readonly response: JsonObject
}

/** undefined: the body is not a stored turn. */
export function readTurn(body: JsonValue): Turn | undefined {
  if (!isJsonObject(body) || !isJsonArray(body.input) || !isJsonObject(body.response)) return undefined
  return { input: body.input, response: body.response }
}

/** Input and output of a turn, as items of the next request. */
export function itemsOfTurn({ input, response }: Turn): readonly JsonValue[] {
  return [...input, ...listOf(response.output)]
}

/** The request as if the client had sent the whole conversation itself. */
export function continuedBody(body: JsonObject, past: readonly JsonValue[]): JsonObject {
  const { previous_response_id: _previous, ...rest } = body
  return { ...rest, input: [...past, ...inputItems(body.input)] }
}

export interface ItemPage {
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Id of the last item of the page before. */
  readonly after: string | undefined
}

/** A page of a response's input items; `undefined`: there is no item of the id `after`. */
export function inputItemPage(turn: Turn, { order, limit, after }: ItemPage): JsonObject | undefined {
  const responseId = wordOf(turn.response.id) ?? ''
  const items = turn.input.filter(isJsonObject).map((item, index) => listedItem(item, responseId, index))
  if (order === 'desc') items.reverse()
  const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1
  if (after !== undefined && start === 0) return undefined
  const data = items.slice(start, start + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  }
}

/** Lists show what requests may omit: the type, the id, the status, the parts of a text. */
function listedItem(item: JsonObject, responseId: string, index: number): JsonObject {
  const type = wordOf(item.type) ?? 'message'
  const id = wordOf(item.id) ?? `${ID_PREFIXES[type] ?? 'item'}_${responseId.replace(/^resp_/, '')}_${index}`
  if (type !== 'message') return { ...item, id, type }
  const part = item.role === 'assistant' ? 'output_text' : 'input_text'
  const content =
    typeof item.content === 'string' ? [{ type: part, text: item.content }] : listOf(item.content)
  return { ...item, id, type, status: wordOf(item.status) ?? 'completed', content }
}

const ID_PREFIXES: Readonly<Record<string, string | undefined>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  reasoning: 'rs',
}
