/** Tools and their choice for a messages upstream (docs/protocols.md#requests-between-protocols). */
import { CUSTOM_INPUT_SCHEMA, customToolDescription } from '../../../canonical/tools/custom-tools.ts'
import type { CustomTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { toAnthropicSchema, toToolInputSchema } from '../../../canonical/tools/schema.ts'
import type { JsonObject } from '../../../json.ts'
import { objectOf, wordOf } from '../../read-json.ts'
import type { CacheControls } from './cache-marks.ts'
import { type Plan, toolName } from './plan.ts'
import { JSON_OUTPUT_TOOL } from '../wire.ts'

export function encodeTools(plan: Plan, marks: CacheControls): readonly JsonObject[] {
  const { request } = plan
  if (plan.jsonTool && request.output.kind === 'json-schema') return [jsonTool(plan)]
  const allowed = request.toolChoice?.kind === 'allowed' ? new Set(request.toolChoice.names) : undefined
  const encoded: JsonObject[] = []
  for (const [index, tool] of request.tools.entries()) {
    if (allowed !== undefined && tool.type !== 'hosted' && !allowed.has(tool.name)) continue
    const json = encodeTool(tool, plan, marks)
    if (json === undefined) plan.dropped.add(`tools[${index}]`)
    else encoded.push(json)
  }
  return encoded
}

function jsonTool({ request }: Plan): JsonObject {
  const { output } = request
  if (output.kind !== 'json-schema') return {}
  return {
    name: JSON_OUTPUT_TOOL,
    description: output.description ?? 'Gives the answer. Call it exactly once.',
    input_schema: toToolInputSchema(output.schema),
  }
}

function encodeTool(tool: Tool, plan: Plan, marks: CacheControls): JsonObject | undefined {
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, plan, marks)
    case 'custom':
      return encodeCustom(tool, plan)
    case 'hosted':
      return encodeHosted(tool, plan)
  }
}

function encodeFunction(tool: FunctionTool, plan: Plan, marks: CacheControls): JsonObject {
  const control = marks.take(tool.cache)
  const cache = control === undefined ? {} : { cache_control: control }
  if (tool.native !== undefined) {
    const { cache_control: _replaced, ...json } = tool.native.json
    return { ...json, ...cache }
  }
  const strict = tool.strict === true && plan.target.capabilities.strictTools
  if (tool.strict === true && !strict) plan.dropped.add('toolStrict')
  const schema =
    strict && tool.parameters !== undefined ? toAnthropicSchema(tool.parameters) : tool.parameters
  return {
    name: toolName(tool, plan),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    input_schema: toToolInputSchema(schema),
    ...(strict ? { strict: true } : {}),
    ...cache,
  }
}

function encodeCustom(tool: CustomTool, plan: Plan): JsonObject {
  const description = customToolDescription(tool)
  return {
    name: toolName(tool, plan),
    ...(description === undefined ? {} : { description }),
    input_schema: CUSTOM_INPUT_SCHEMA,
  }
}

function encodeHosted(tool: HostedTool, { target }: Plan): JsonObject | undefined {
  const known = target.capabilities.hostedTools.includes(tool.name)
  if (tool.protocol === 'messages' && (known || tool.name === 'other')) return tool.json
  return known ? translateHosted(tool) : undefined
}

function translateHosted({ name, json }: HostedTool): JsonObject | undefined {
  switch (name) {
    case 'web-search':
      return {
        type: 'web_search_20250305',
        name: 'web_search',
        ...userLocation(json),
        ...allowedDomains(json),
      }
    case 'code-interpreter':
      return { type: 'code_execution_20250825', name: 'code_execution' }
    case 'url-context':
      return { type: 'web_fetch_20250910', name: 'web_fetch' }
    case 'file-search':
    case 'image-generation':
    case 'other':
      return undefined
  }
}

/** Chat nests the place one level deeper than responses and messages do. */
function userLocation(json: JsonObject): JsonObject {
  const location = objectOf(json.user_location)
  const place = objectOf(location?.approximate) ?? location
  if (place === undefined) return {}
  const fields = ['city', 'region', 'country', 'timezone'].filter(
    (field) => wordOf(place[field]) !== undefined,
  )
  const known: JsonObject = Object.fromEntries(fields.map((field) => [field, place[field]]))
  return { user_location: { type: 'approximate', ...known } }
}

function allowedDomains(json: JsonObject): JsonObject {
  const domains = objectOf(json.filters)?.allowed_domains
  return Array.isArray(domains) && domains.length > 0 ? { allowed_domains: domains } : {}
}

export function encodeToolChoice(plan: Plan, hasTools: boolean): JsonObject {
  const { request, dropped } = plan
  if (plan.jsonTool) {
    return { tool_choice: { type: 'tool', name: JSON_OUTPUT_TOOL, disable_parallel_tool_use: true } }
  }
  if (!hasTools) return {}
  const choice = softened(request.toolChoice, plan)
  const single = request.parallelToolCalls === false
  if (choice === undefined) {
    return single ? { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } : {}
  }
  if (choice.type === 'none') {
    if (single) dropped.add('parallelToolCalls')
    return { tool_choice: choice }
  }
  return { tool_choice: single ? { ...choice, disable_parallel_tool_use: true } : choice }
}

/**
 * Forcing a tool on a thinking model is refused upstream; leaving the choice to the model is nearest
 * (docs/protocols.md#trap-32).
 */
function softened(choice: ToolChoice | undefined, plan: Plan): WireChoice | undefined {
  if (choice === undefined) return undefined
  const wire = wireChoice(choice, plan)
  const forced = wire.type === 'any' || wire.type === 'tool'
  if (!forced || mayForce(plan)) return wire
  plan.dropped.add('toolChoice')
  return { type: 'auto' }
}

/** Some models accept no forced choice at all, others none while thinking. */
function mayForce({ thinks, target: { capabilities } }: Plan): boolean {
  if (capabilities.forcedTools === false) return false
  return !thinks || capabilities.forcedToolWithReasoning
}

type WireChoice =
  | { readonly type: 'auto' | 'any' | 'none' }
  | { readonly type: 'tool'; readonly name: string }

function wireChoice(choice: ToolChoice, plan: Plan): WireChoice {
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return { type: choice.kind }
    case 'required':
      return { type: 'any' }
    case 'tool':
      return { type: 'tool', name: chosenName(choice.name, plan) }
    case 'allowed':
      return { type: choice.mode === 'required' ? 'any' : 'auto' }
  }
}

function chosenName(name: string, plan: Plan): string {
  const tool = plan.request.tools.find((candidate) => candidate.type !== 'hosted' && candidate.name === name)
  return tool === undefined || tool.type === 'hosted'
    ? toolName({ name, namespace: undefined }, plan)
    : toolName(tool, plan)
}
