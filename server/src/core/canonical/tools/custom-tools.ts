/**
 * Free-text tools where an upstream only knows functions: a function with one text argument, `input`, and back
 * (docs/protocols.md#requests-between-protocols). On the way back the text is read from the JSON as it streams, without
 * waiting for its end.
 */
import { isJsonObject, type JsonObject } from '../../json.ts'
import { parseJson } from '../json-text.ts'
import type { CustomTool } from '../request.ts'

export const CUSTOM_INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The grammar cannot be enforced there, so it is described to the model. */
export function customToolDescription({ description, grammar }: CustomTool): string | undefined {
  if (grammar === undefined) return description
  const rule = `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`
  return description === undefined || description === '' ? rule : `${description}\n\n${rule}`
}

export function wrapCustomInput(input: string): string {
  return JSON.stringify({ input })
}

/** The text inside whole arguments; arguments of another shape are the text themselves. */
export function unwrapCustomInput(argumentsText: string): string {
  const value = parseJson(argumentsText)
  return isJsonObject(value) && typeof value.input === 'string' ? value.input : argumentsText
}
