/** A Gemini client's tools and tool choice (docs/protocols.md#gemini-requests). */
import { addAll } from '../../../canonical/add-all.ts'
import { isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type { HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { toJsonSchema } from '../../../canonical/tools/schema.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { listOf, type Maybe, objectOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { findSchemaProblem } from '../../tool-schema.ts'
import { camelName, member } from '../wire.ts'

/** One entry of `tools` may hold many functions and several hosted tools at once. */
export function decodeTools(value: Maybe, dropped: Set<string>): readonly Tool[] | Refused {
  if (value === undefined || value === null) return []
  const entries = isJsonArray(value) ? value : [value]
  const tools: Tool[] = []
  for (const [index, item] of entries.entries()) {
    const entry = objectOf(item)
    if (entry === undefined) return refused(`tools[${index}]`, 'must be an object')
    if (nestsTooDeep(entry)) return refused(`tools[${index}]`, 'is nested too deeply')
    const functions = decodeFunctions(entry, `tools[${index}]`, dropped)
    if (isRefused(functions)) return functions
    addAll(tools, functions)
    addAll(tools, decodeHosted(entry))
  }
  return tools
}

function decodeFunctions(entry: JsonObject, field: string, dropped: Set<string>): readonly Tool[] | Refused {
  const declarations = member(entry, 'functionDeclarations')
  const tools: Tool[] = []
  for (const [index, item] of listOf(declarations).entries()) {
    const tool = decodeFunction(item, `${field}.functionDeclarations[${index}]`, dropped)
    if (isRefused(tool)) return tool
    tools.push(tool)
  }
  return tools
}

function decodeFunction(item: JsonValue, field: string, dropped: Set<string>): Tool | Refused {
  const declaration = objectOf(item)
  const name = wordOf(declaration?.name)
  if (declaration === undefined || name === undefined) return refused(`${field}.name`, 'is required')
  for (const unsaid of ['response', 'responseJsonSchema', 'behavior']) {
    if (declaration[unsaid] !== undefined) dropped.add(`tools[].functionDeclarations[].${unsaid}`)
  }
  const given = member(declaration, 'parametersJsonSchema') ?? declaration.parameters
  const problem = findSchemaProblem(given)
  if (problem !== undefined) return refused(`${field}.parameters`, problem)
  const schema = objectOf(member(declaration, 'parametersJsonSchema'))
  const openApi = objectOf(declaration.parameters)
  return {
    type: 'function',
    name,
    namespace: undefined,
    description: textOf(declaration.description),
    parameters: schema ?? (openApi === undefined ? undefined : toJsonSchema(openApi)),
    strict: undefined,
  }
}

const HOSTED: Readonly<Record<string, HostedTool['name'] | undefined>> = {
  googleSearch: 'web-search',
  googleSearchRetrieval: 'web-search',
  enterpriseWebSearch: 'web-search',
  codeExecution: 'code-interpreter',
  urlContext: 'url-context',
  fileSearch: 'file-search',
}

function decodeHosted(entry: JsonObject): readonly HostedTool[] {
  return Object.entries(entry)
    .map(([key, settings]) => [camelName(key), settings] as const)
    .filter(([key, settings]) => key !== 'functionDeclarations' && settings !== null)
    .map(([key, settings]) => ({
      type: 'hosted',
      name: HOSTED[key] ?? 'other',
      protocol: 'gemini',
      json: { [key]: settings },
    }))
}

export function decodeToolChoice(
  value: Maybe,
  tools: readonly Tool[],
  dropped: Set<string>,
): ToolChoice | undefined | Refused {
  const toolConfig = objectOf(value)
  if (toolConfig === undefined) return undefined
  for (const key of Object.keys(toolConfig).map(camelName)) {
    if (key !== 'functionCallingConfig' && /^[a-zA-Z]{1,64}$/.test(key)) dropped.add(`toolConfig.${key}`)
  }
  const calling = objectOf(member(toolConfig, 'functionCallingConfig'))
  if (calling === undefined) return undefined
  const names = listOf(member(calling, 'allowedFunctionNames')).filter((name) => typeof name === 'string')
  const known = new Set(tools.map((tool) => (tool.type === 'hosted' ? '' : tool.name)))
  if (names.some((name) => !known.has(name))) {
    return refused(
      'toolConfig.functionCallingConfig.allowedFunctionNames',
      'names a function that is not declared in tools',
    )
  }
  return choiceOf(textOf(calling.mode)?.toUpperCase() ?? 'MODE_UNSPECIFIED', names)
}

function choiceOf(mode: string, names: readonly string[]): ToolChoice | undefined | Refused {
  const [only, ...others] = names
  switch (mode) {
    case 'NONE':
      return { kind: 'none' }
    case 'ANY':
      if (only === undefined) return { kind: 'required' }
      return others.length === 0 ? { kind: 'tool', name: only } : { kind: 'allowed', mode: 'required', names }
    case 'AUTO':
    case 'VALIDATED':
      return only === undefined ? { kind: 'auto' } : { kind: 'allowed', mode: 'auto', names }
    case 'MODE_UNSPECIFIED':
      return undefined
    default:
      return refused('toolConfig.functionCallingConfig.mode', 'must be AUTO, ANY, NONE or VALIDATED')
  }
}
