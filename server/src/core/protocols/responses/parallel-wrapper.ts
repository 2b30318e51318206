/**
 * Some models call an undeclared tool, `parallel`, whose arguments list the calls they mean
 * (docs/protocols.md#responses-streams). Clients get the calls themselves.
 */
import { argumentsText, parseJson } from '../../canonical/json-text.ts'
import type { ToolCallBlock } from '../../canonical/response.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts'
import { listOf, objectOf, wordOf } from '../read-json.ts'

export function isWrapper(item: JsonObject): boolean {
  const named = item.name === 'parallel' || item.name === 'multi_tool_use.parallel'
  return named && item.type === 'function_call'
}

/** `undefined`: it is a tool of that name after all. */
export function unwrapCalls(callId: string, text: string): readonly ToolCallBlock[] | undefined {
  const value = parseJson(text)
  const uses = isJsonObject(value) ? listOf(value.tool_uses) : []
  const calls = uses.flatMap((use, index) => unwrapUse(use, `${callId}_${index}`) ?? [])
  return calls.length > 0 && calls.length === uses.length ? calls : undefined
}

function unwrapUse(use: JsonValue, id: string): ToolCallBlock | undefined {
  const fields = objectOf(use)
  const name = wordOf(fields?.recipient_name)?.replace(/^functions\./, '')
  if (fields === undefined || name === undefined) return undefined
  return {
    type: 'tool-call',
    id,
    name,
    namespace: undefined,
    kind: 'function',
    arguments: argumentsText(fields.parameters),
    signature: undefined,
  }
}
