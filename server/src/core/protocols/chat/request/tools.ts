/** Tools and the choice among them, between chat's nested form and the canonical one. */
import type { FunctionTool, HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { flagOf, listOf, objectOf, textOf, wordOf, tagOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { findSchemaProblem } from '../../tool-schema.ts'
import { cacheOf } from './cache-mark.ts'

export function decodeTools(body: JsonObject, dropped: Set<string>): readonly Tool[] | Refused {
  const tools: Tool[] = []
  for (const [index, entry] of listOf(body.tools).entries()) {
    const tool = decodeTool(entry, `tools[${index}]`)
    if (isRefused(tool)) return tool
    if (tool === undefined) dropped.add(`tools[${index}]`)
    else tools.push(tool)
  }
  for (const [index, entry] of listOf(body.functions).entries()) {
    const tool = decodeFunction(objectOf(entry), `functions[${index}]`)
    if (isRefused(tool)) return tool
    tools.push(tool)
  }
  const search = objectOf(body.web_search_options)
  return search === undefined ? tools : [...tools, hostedSearch(search)]
}

/** `undefined`: a tool that only some vendor itself has. */
function decodeTool(entry: JsonValue, field: string): Tool | undefined | Refused {
  if (!isJsonObject(entry)) return refused(field, 'must be an object')
  switch (tagOf(entry.type)) {
    case 'custom':
      return decodeCustom(objectOf(entry.custom) ?? entry, field)
    case 'function':
    case undefined:
      // Some clients send the flat form of the responses protocol.
      return decodeFunction(objectOf(entry.function) ?? entry, `${field}.function`, entry)
    default:
      return undefined
  }
}

function decodeFunction(
  definition: JsonObject | undefined,
  field: string,
  outer: JsonObject = {},
): FunctionTool | Refused {
  const name = wordOf(definition?.name)
  if (definition === undefined || name === undefined) return refused(`${field}.name`, 'is required')
  const problem = findSchemaProblem(definition.parameters)
  if (problem !== undefined) return refused(`${field}.parameters`, problem)
  const mark = cacheOf(outer)
  return {
    type: 'function',
    name,
    namespace: undefined,
    description: textOf(definition.description),
    parameters: definition.parameters ?? undefined,
    strict: flagOf(definition.strict),
    ...(mark.cache === undefined ? cacheOf(definition) : mark),
  }
}

function decodeCustom(definition: JsonObject, field: string): Tool | Refused {
  const name = wordOf(definition.name)
  if (name === undefined) return refused(`${field}.custom.name`, 'is required')
  const format = objectOf(definition.format)
  const grammar = objectOf(format?.grammar) ?? format
  const syntax = wordOf(grammar?.syntax)
  const text = wordOf(grammar?.definition)
  return {
    type: 'custom',
    name,
    namespace: undefined,
    description: textOf(definition.description),
    grammar: syntax === undefined || text === undefined ? undefined : { syntax, definition: text },
  }
}

function hostedSearch(json: JsonObject): HostedTool {
  return { type: 'hosted', name: 'web-search', protocol: 'chat', json }
}

export function decodeToolChoice(body: JsonObject, tools: readonly Tool[]): ToolChoice | undefined | Refused {
  const choice = body.tool_choice ?? body.function_call
  const field = body.tool_choice === undefined ? 'function_call' : 'tool_choice'
  if (choice === undefined || choice === null) return undefined
  if (typeof choice === 'string') return decodeWord(choice, field)
  if (!isJsonObject(choice)) return refused(field, 'must be a string or an object')
  if (choice.type === 'allowed_tools') return decodeAllowed(choice)
  const name = nameIn(choice)
  if (name === undefined) return refused(`${field}.function.name`, 'is required')
  const known = tools.some((tool) => tool.type !== 'hosted' && tool.name === name)
  return known ? { kind: 'tool', name } : refused(field, `the tool ${JSON.stringify(name)} is not in tools`)
}

function decodeWord(word: string, field: string): ToolChoice | Refused {
  switch (word) {
    case 'auto':
    case 'none':
    case 'required':
      return { kind: word }
    // Mistral's value, which its clients send to other vendors too.
    case 'any':
      return { kind: 'required' }
    default:
      return refused(field, 'must be auto, none, required or name a tool')
  }
}

function nameIn(choice: JsonObject): string | undefined {
  return (
    wordOf(objectOf(choice.function)?.name) ?? wordOf(objectOf(choice.custom)?.name) ?? wordOf(choice.name)
  )
}

function decodeAllowed(choice: JsonObject): ToolChoice {
  const allowed = objectOf(choice.allowed_tools) ?? choice
  const names = listOf(allowed.tools).flatMap((entry) => nameIn(objectOf(entry) ?? {}) ?? [])
  return { kind: 'allowed', mode: allowed.mode === 'required' ? 'required' : 'auto', names }
}
