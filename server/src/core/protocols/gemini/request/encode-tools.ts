/** Tools and their choice for a Gemini upstream (docs/protocols.md#gemini-requests, #requests-between-protocols). */
import { CUSTOM_INPUT_SCHEMA, customToolDescription } from '../../../canonical/tools/custom-tools.ts'
import type { CustomTool, FunctionTool, HostedTool, ToolChoice } from '../../../canonical/request.ts'
import { toOpenApiSubset } from '../../../canonical/tools/schema.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { type Plan, toolName, withoutDialect } from './plan.ts'

export function encodeTools(plan: Plan): readonly JsonObject[] {
  const declarations: JsonObject[] = []
  const hosted: [index: number, tool: HostedTool][] = []
  for (const [index, tool] of plan.request.tools.entries()) {
    if (tool.type === 'hosted') hosted.push([index, tool])
    else declarations.push(tool.type === 'function' ? encodeFunction(tool, plan) : encodeCustom(tool, plan))
  }
  const functions = declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]
  return [...functions, ...encodeHosted(hosted, plan, declarations.length > 0)]
}

function encodeFunction(tool: FunctionTool, plan: Plan): JsonObject {
  if (tool.strict === true) plan.dropped.add('toolStrict')
  return {
    name: toolName(tool, plan),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...encodeParameters(tool.parameters, plan),
  }
}

function encodeCustom(tool: CustomTool, plan: Plan): JsonObject {
  const description = customToolDescription(tool)
  return {
    name: toolName(tool, plan),
    ...(description === undefined ? {} : { description }),
    ...encodeParameters(CUSTOM_INPUT_SCHEMA, plan),
  }
}

/** A function without parameters has no such member: some versions refuse an object without properties. */
function encodeParameters(schema: JsonValue | undefined, { target }: Plan): JsonObject {
  if (schema === undefined || !isJsonObject(schema) || isEmptyObject(schema)) return {}
  return target.capabilities.schemaDialect === 'openapi-subset'
    ? { parameters: toOpenApiSubset(schema) }
    : { parametersJsonSchema: withoutDialect(schema) }
}

function isEmptyObject(schema: JsonObject): boolean {
  const { properties } = schema
  const none = properties === undefined || (isJsonObject(properties) && Object.keys(properties).length === 0)
  const open = ['anyOf', 'oneOf', 'allOf', '$ref', 'patternProperties'].some(
    (word) => schema[word] !== undefined,
  )
  return none && !open && !isJsonObject(schema.additionalProperties)
}

/**
 * Only the third generation accepts its own tools and the client's functions together
 * (docs/protocols.md#gemini-requests).
 */
function encodeHosted(
  tools: readonly (readonly [index: number, tool: HostedTool])[],
  plan: Plan,
  besideFunctions: boolean,
): readonly JsonObject[] {
  const { capabilities } = plan.target
  const together = !besideFunctions || capabilities.reasoning === 'level'
  const encoded: JsonObject[] = []
  for (const [index, tool] of tools) {
    const json = together ? encodeHostedTool(tool, plan) : undefined
    if (json === undefined) plan.dropped.add(`tools[${index}]`)
    else encoded.push(json)
  }
  return encoded
}

function encodeHostedTool(tool: HostedTool, { target }: Plan): JsonObject | undefined {
  const known = target.capabilities.hostedTools.includes(tool.name)
  if (tool.protocol === 'gemini') return known || tool.name === 'other' ? tool.json : undefined
  if (!known) return undefined
  switch (tool.name) {
    case 'web-search':
      return { googleSearch: {} }
    case 'code-interpreter':
      return { codeExecution: {} }
    case 'url-context':
      return { urlContext: {} }
    case 'file-search':
    case 'image-generation':
    case 'other':
      return undefined
  }
}

export function encodeToolConfig(plan: Plan, tools: readonly JsonObject[]): JsonObject {
  const { toolChoice } = plan.request
  if (toolChoice === undefined || !tools.some((tool) => 'functionDeclarations' in tool)) return {}
  return { toolConfig: { functionCallingConfig: callingConfig(toolChoice, plan) } }
}

function callingConfig(choice: ToolChoice, plan: Plan): JsonObject {
  switch (choice.kind) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: chosenNames([choice.name], plan) }
    case 'allowed':
      return {
        mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED',
        allowedFunctionNames: chosenNames(choice.names, plan),
      }
  }
}

/** A single pass over the tools, however many names there are: a client may send hundreds of thousands of both. */
function chosenNames(names: readonly string[], plan: Plan): readonly string[] {
  const upstreamNames = new Map<string, string>()
  for (const tool of plan.request.tools) {
    if (tool.type !== 'hosted' && !upstreamNames.has(tool.name))
      upstreamNames.set(tool.name, toolName(tool, plan))
  }
  return names.map((name) => upstreamNames.get(name) ?? toolName({ name, namespace: undefined }, plan))
}
