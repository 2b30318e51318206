/** Canonical tools and the choice among them → chat's nested form, limited to what the chain supports. */
import { CUSTOM_INPUT_SCHEMA, customToolDescription } from '../../../canonical/tools/custom-tools.ts'
import type { CustomTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { upstreamToolName } from '../../../canonical/tools/tool-names.ts'
import type { JsonObject } from '../../../json.ts'
import { mustFreeChoice } from '../../chain-limits.ts'
import type { Capabilities, EncodeTarget, Refused } from '../../protocol.ts'
import { objectOf, wordOf } from '../../read-json.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import { encodeSchema } from '../../tool-schema.ts'
import { encodeCacheMark } from './cache-mark.ts'
import type { Encoding } from '../../encoding.ts'

/** The members `tools`, `tool_choice`, `parallel_tool_calls` and `web_search_options`. */
export function encodeTools(encoding: Encoding): JsonObject | Refused {
  const { request, target, dropped } = encoding
  const choice = encodeChoice(encoding)
  if (isRefused(choice)) return choice
  const tools: JsonObject[] = []
  let search: JsonObject | undefined
  for (const [index, tool] of request.tools.entries()) {
    if (tool.type === 'hosted') {
      const options = searchOptions(tool, target.capabilities)
      if (options === undefined) dropped.add(`tools[${index}]`)
      search ??= options
    } else if (choice.allows(tool)) {
      tools.push(encodeTool(tool, encoding))
    }
  }
  const searching = search === undefined ? {} : { web_search_options: search }
  if (tools.length === 0) return searching
  return { tools, ...choice.member, ...parallel(encoding), ...searching }
}

function encodeTool(tool: Exclude<Tool, HostedTool>, encoding: Encoding): JsonObject {
  return tool.type === 'custom' ? encodeCustom(tool, encoding.target) : encodeFunction(tool, encoding)
}

function encodeFunction(tool: FunctionTool, encoding: Encoding): JsonObject {
  const { capabilities } = encoding.target
  if (tool.strict === true && !capabilities.strictTools) encoding.dropped.add('toolStrict')
  const kept = encoding.marks.take(tool.cache)
  if (tool.cache !== undefined && (kept === undefined || capabilities.cacheMarks === 'none')) {
    encoding.dropped.add('toolCache')
  }
  return {
    type: 'function',
    function: {
      name: upstreamToolName(tool, capabilities.toolNameMax),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...(tool.parameters === undefined
        ? {}
        : { parameters: encodeSchema(tool.parameters, capabilities.schemaDialect) }),
      ...(tool.strict === undefined || !capabilities.strictTools ? {} : { strict: tool.strict }),
    },
    ...encodeCacheMark(kept, capabilities.cacheMarks),
  }
}

function encodeCustom(tool: CustomTool, { capabilities }: EncodeTarget): JsonObject {
  const name = upstreamToolName(tool, capabilities.toolNameMax)
  if (!capabilities.customTools) {
    const description = customToolDescription(tool)
    return {
      type: 'function',
      function: {
        name,
        ...(description === undefined ? {} : { description }),
        parameters: CUSTOM_INPUT_SCHEMA,
      },
    }
  }
  const { description, grammar } = tool
  return {
    type: 'custom',
    custom: {
      name,
      ...(description === undefined ? {} : { description }),
      ...(grammar === undefined ? {} : { format: { type: 'grammar', grammar: { ...grammar } } }),
    },
  }
}

/** Settings of any protocol's web search that chat's own has too. */
function searchOptions({ name, json }: HostedTool, { hostedTools }: Capabilities): JsonObject | undefined {
  if (name !== 'web-search' || !hostedTools.includes(name)) return undefined
  const size = wordOf(json.search_context_size)
  const location = objectOf(json.user_location)
  return {
    ...(size === undefined ? {} : { search_context_size: size }),
    ...(location === undefined ? {} : { user_location: nestedLocation(location) }),
  }
}

/** Chat nests the location; the other protocols keep it flat. */
function nestedLocation(location: JsonObject): JsonObject {
  if (location.approximate !== undefined) return location
  const { type: _type, ...approximate } = location
  return { type: 'approximate', approximate }
}

interface EncodedChoice {
  readonly member: JsonObject
  readonly allows: (tool: Exclude<Tool, HostedTool>) => boolean
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
      const tool = request.tools.find(
        (candidate) => candidate.type !== 'hosted' && candidate.name === choice.name,
      )
      if (tool === undefined || tool.type === 'hosted')
        return unsupported('toolChoice', 'the tool it names is not in tools')
      return { member: { tool_choice: namedChoice(tool, target) }, allows: ALL_ALLOWED }
    }
    case 'allowed':
      return encodeAllowed(choice, request.tools, target)
  }
}

function namedChoice(tool: Exclude<Tool, HostedTool>, { capabilities }: EncodeTarget): JsonObject {
  const name = upstreamToolName(tool, capabilities.toolNameMax)
  const custom = tool.type === 'custom' && capabilities.customTools
  return custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } }
}

/** Vendors that support custom tools support `allowed_tools`; for the others the list of tools is shortened. */
function encodeAllowed(
  choice: Extract<ToolChoice, { kind: 'allowed' }>,
  tools: readonly Tool[],
  target: EncodeTarget,
): EncodedChoice {
  const names = new Set(choice.names)
  const allows = (tool: Exclude<Tool, HostedTool>): boolean => names.has(tool.name)
  if (!target.capabilities.customTools) return { member: { tool_choice: choice.mode }, allows }
  const listed = tools.flatMap((tool) =>
    tool.type !== 'hosted' && allows(tool) ? [namedChoice(tool, target)] : [],
  )
  const allowed = { mode: choice.mode, tools: listed }
  return { member: { tool_choice: { type: 'allowed_tools', allowed_tools: allowed } }, allows: ALL_ALLOWED }
}

function parallel({ request, target, dropped }: Encoding): JsonObject {
  const { parallelToolCalls } = request
  if (parallelToolCalls === undefined) return {}
  if (target.capabilities.parallelToolCalls) return { parallel_tool_calls: parallelToolCalls }
  if (!parallelToolCalls) dropped.add('parallelToolCalls')
  return {}
}
