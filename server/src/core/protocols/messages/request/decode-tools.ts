/** A messages client's tools and tool choice (docs/protocols.md#messages-requests, #requests-between-protocols). */
import type { HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { flagOf, type Maybe, objectOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { findSchemaProblem } from '../../tool-schema.ts'
import { decodeCache } from './cache-marks.ts'
import { findTypedTool, isToolset, type TypedTool } from './typed-tools.ts'

export function decodeTools(value: Maybe, dropped: Set<string>): readonly Tool[] | Refused {
  if (value === undefined || value === null) return []
  if (!isJsonArray(value)) return refused('tools', 'must be an array')
  const tools: Tool[] = []
  for (const [index, item] of value.entries()) {
    const tool = decodeTool(item, `tools[${index}]`, dropped)
    if (isRefused(tool)) return tool
    tools.push(tool)
  }
  return tools
}

export interface DecodedToolChoice {
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
}

export function decodeToolChoice(value: Maybe, tools: readonly Tool[]): DecodedToolChoice | Refused {
  if (value === undefined || value === null) return { toolChoice: undefined, parallelToolCalls: undefined }
  const choice = objectOf(value)
  const kind = choiceOf(choice)
  if (kind === undefined) {
    return refused('tool_choice', 'must have the type auto, any, none, or tool with a name')
  }
  if (kind.kind === 'tool' && !tools.some((tool) => isNamed(tool, kind.name))) {
    return refused('tool_choice.name', 'names a tool that is not in tools')
  }
  const parallelToolCalls = flagOf(choice?.disable_parallel_tool_use) === true ? false : undefined
  return { toolChoice: kind, parallelToolCalls }
}

function isNamed(tool: Tool, name: string): boolean {
  return (tool.type === 'hosted' ? tool.json.name : tool.name) === name
}

function choiceOf(choice: JsonObject | undefined): ToolChoice | undefined {
  switch (textOf(choice?.type) ?? '') {
    case 'auto':
      return { kind: 'auto' }
    case 'any':
      return { kind: 'required' }
    case 'none':
      return { kind: 'none' }
    case 'tool': {
      const name = wordOf(choice?.name)
      return name === undefined ? undefined : { kind: 'tool', name }
    }
    default:
      return undefined
  }
}

function decodeTool(item: JsonValue, field: string, dropped: Set<string>): Tool | Refused {
  const tool = objectOf(item)
  if (tool === undefined) return refused(field, 'must be an object')
  if (nestsTooDeep(tool)) return refused(field, 'is nested too deeply')
  const type = textOf(tool.type) ?? 'custom'
  if (type === 'custom') return decodeFunction(tool, field, dropped)
  const typed = findTypedTool(type)
  if (typed !== undefined) return decodeTyped(tool, typed, field)
  if (isToolset(type)) {
    return refused(
      `${field}.type`,
      `${type} is available only where the upstream speaks the messages protocol`,
    )
  }
  return decodeHosted(tool, type)
}

/** Members that only affect how Anthropic loads, checks or streams a tool. */
const UNSPOKEN = ['defer_loading', 'eager_input_streaming', 'input_examples', 'allowed_callers']

function decodeFunction(tool: JsonObject, field: string, dropped: Set<string>): Tool | Refused {
  const name = wordOf(tool.name)
  if (name === undefined) return refused(`${field}.name`, 'is required')
  for (const member of UNSPOKEN) {
    if (tool[member] !== undefined && tool[member] !== null) dropped.add(`tools[].${member}`)
  }
  const problem = findSchemaProblem(tool.input_schema)
  if (problem !== undefined) return refused(`${field}.input_schema`, problem)
  const schema = objectOf(tool.input_schema)
  const cache = decodeCache(tool.cache_control)
  return {
    type: 'function',
    name,
    namespace: undefined,
    description: textOf(tool.description),
    parameters: schema,
    strict: flagOf(tool.strict),
    ...(cache === undefined ? {} : { cache }),
  }
}

function decodeTyped(tool: JsonObject, typed: TypedTool, field: string): Tool | Refused {
  const name = wordOf(tool.name)
  if (name === undefined) return refused(`${field}.name`, 'is required')
  const cache = decodeCache(tool.cache_control)
  return {
    type: 'function',
    name,
    namespace: undefined,
    description: typed.description,
    parameters: typed.parameters,
    strict: flagOf(tool.strict),
    ...(cache === undefined ? {} : { cache }),
    native: { protocol: 'messages', json: tool },
  }
}

function decodeHosted(tool: JsonObject, type: string): HostedTool {
  const known = HOSTED.find(({ prefix }) => type.startsWith(prefix))
  return { type: 'hosted', name: known?.name ?? 'other', protocol: 'messages', json: tool }
}

const HOSTED: readonly { readonly prefix: string; readonly name: HostedTool['name'] }[] = [
  { prefix: 'web_search_', name: 'web-search' },
  { prefix: 'code_execution_', name: 'code-interpreter' },
  { prefix: 'web_fetch_', name: 'url-context' },
]
