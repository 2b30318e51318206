/** Canonical tools and the choice among them → this protocol's flat form, limited to what the chain supports. */
import { CUSTOM_INPUT_SCHEMA, customToolDescription } from '../../../canonical/tools/custom-tools.ts'
import type { CustomTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { flatToolName, upstreamToolName } from '../../../canonical/tools/tool-names.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { mustFreeChoice } from '../../chain-limits.ts'
import type { EncodeTarget, Refused } from '../../protocol.ts'
import { listOf, objectOf, wordOf } from '../../read-json.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import { encodeSchema } from '../../tool-schema.ts'
import type { Encoding } from '../../encoding.ts'

type ClientTool = Exclude<Tool, HostedTool>

/** The members `tools`, `tool_choice` and `parallel_tool_calls`. */
export function encodeTools(encoding: Encoding): JsonObject | Refused {
  const { request, target, dropped } = encoding
  const choice = encodeChoice(encoding)
  if (isRefused(choice)) return choice
  const tools: JsonObject[] = []
  for (const [index, tool] of request.tools.entries()) {
    if (tool.type !== 'hosted') {
      if (choice.allows(tool)) tools.push(encodeTool(tool, encoding))
      continue
    }
    const json = encodeHosted(tool, target)
    if (json === undefined) dropped.add(`tools[${index}]`)
    else tools.push(json)
  }
  if (tools.length === 0) return {}
  return { tools, ...choice.member, ...parallel(encoding) }
}

function encodeTool(tool: ClientTool, encoding: Encoding): JsonObject {
  return tool.type === 'custom' ? encodeCustom(tool, encoding.target) : encodeFunction(tool, encoding)
}

const NO_PARAMETERS: JsonValue = { type: 'object', properties: {} }

/** An omitted `strict` may be read as strict, which changes what a schema means: it is always sent. */
function encodeFunction(tool: FunctionTool, { target, dropped, marks }: Encoding): JsonObject {
  const { strictTools, toolNameMax, schemaDialect } = target.capabilities
  if (tool.strict === true && !strictTools) dropped.add('toolStrict')
  if (tool.cache !== undefined) {
    marks.take(tool.cache)
    dropped.add('toolCache')
  }
  return {
    type: 'function',
    name: upstreamToolName(tool, toolNameMax),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters: encodeSchema(tool.parameters ?? NO_PARAMETERS, schemaDialect),
    strict: strictTools && tool.strict === true,
  }
}

function encodeCustom(tool: CustomTool, { capabilities }: EncodeTarget): JsonObject {
  const name = upstreamToolName(tool, capabilities.toolNameMax)
  const description = capabilities.customTools ? tool.description : customToolDescription(tool)
  const told = description === undefined ? {} : { description }
  if (!capabilities.customTools) {
    return { type: 'function', name, ...told, parameters: CUSTOM_INPUT_SCHEMA, strict: false }
  }
  const { grammar } = tool
  return {
    type: 'custom',
    name,
    ...told,
    ...(grammar === undefined ? {} : { format: { type: 'grammar', ...grammar } }),
  }
}

function encodeHosted(tool: HostedTool, { capabilities }: EncodeTarget): JsonObject | undefined {
  if (!capabilities.hostedTools.includes(tool.name)) return undefined
  if (tool.protocol === 'responses') return tool.json
  switch (tool.name) {
    case 'web-search':
      return { type: 'web_search', ...searchSettings(tool.json) }
    case 'code-interpreter':
      return { type: 'code_interpreter', container: { type: 'auto' } }
    case 'image-generation':
      return { type: 'image_generation' }
    case 'url-context':
    case 'file-search':
    case 'other':
      return undefined
  }
}

/** Settings of chat's, messages' and Gemini's web search that this protocol has too. */
function searchSettings(json: JsonObject): JsonObject {
  const size = wordOf(json.search_context_size)
  const location = objectOf(json.user_location)
  const domains = listOf(json.allowed_domains)
  const flat = objectOf(location?.approximate)
  const place = flat === undefined ? location : { type: 'approximate', ...flat }
  return {
    ...(size === undefined ? {} : { search_context_size: size }),
    ...(place === undefined ? {} : { user_location: place }),
    ...(domains.length === 0 ? {} : { filters: { allowed_domains: domains } }),
  }
}

interface EncodedChoice {
  readonly member: JsonObject
  readonly allows: (tool: ClientTool) => boolean
}

const ALL_ALLOWED = (): boolean => true

function encodeChoice({ request, target, dropped }: Encoding): EncodedChoice | Refused {
  const choice = request.toolChoice
  if (choice === undefined) return { member: {}, allows: ALL_ALLOWED }
  if (mustFreeChoice(request, target.capabilities)) {
    dropped.add('toolChoice')
    return { member: { tool_choice: 'auto' }, allows: ALL_ALLOWED }
  }
  switch (choice.kind) {
    case 'auto':
    case 'none':
    case 'required':
      return { member: { tool_choice: choice.kind }, allows: ALL_ALLOWED }
    case 'tool': {
      const tool = request.tools.find((candidate) => isCalled(candidate, choice.name))
      if (tool === undefined || tool.type === 'hosted') {
        return unsupported('toolChoice', 'the tool it names is not in tools')
      }
      return { member: { tool_choice: namedChoice(tool, target) }, allows: ALL_ALLOWED }
    }
    case 'allowed':
      return encodeAllowed(choice, request.tools, target)
  }
}

/** By its own name, or by the flat name it has on chains without namespaces. */
function isCalled(tool: Tool, name: string): boolean {
  return tool.type !== 'hosted' && (tool.name === name || flatToolName(tool) === name)
}

function namedChoice(tool: ClientTool, { capabilities }: EncodeTarget): JsonObject {
  const name = upstreamToolName(tool, capabilities.toolNameMax)
  return { type: tool.type === 'custom' && capabilities.customTools ? 'custom' : 'function', name }
}

/** Chains that support custom tools support `allowed_tools`; for the others the list of tools is shortened. */
function encodeAllowed(
  choice: Extract<ToolChoice, { kind: 'allowed' }>,
  tools: readonly Tool[],
  target: EncodeTarget,
): EncodedChoice {
  const names = new Set(choice.names)
  const allows = (tool: ClientTool): boolean => names.has(tool.name) || names.has(flatToolName(tool))
  if (!target.capabilities.customTools) return { member: { tool_choice: choice.mode }, allows }
  const listed = tools.flatMap((tool) =>
    tool.type !== 'hosted' && allows(tool) ? [namedChoice(tool, target)] : [],
  )
  const member = { tool_choice: { type: 'allowed_tools', mode: choice.mode, tools: listed } }
  return { member, allows: ALL_ALLOWED }
}

function parallel({ request, target, dropped }: Encoding): JsonObject {
  const { parallelToolCalls } = request
  if (parallelToolCalls === undefined) return {}
  if (target.capabilities.parallelToolCalls) return { parallel_tool_calls: parallelToolCalls }
  if (!parallelToolCalls) dropped.add('parallelToolCalls')
  return {}
}
