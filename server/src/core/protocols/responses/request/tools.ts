/** Tools and the choice among them, between this protocol's flat form and the canonical one. */
import { addAll } from '../../../canonical/add-all.ts'
import { nestsTooDeep } from '../../../canonical/json-text.ts'
import type { CustomTool, FunctionTool, HostedTool, Tool, ToolChoice } from '../../../canonical/request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import type { Refused } from '../../protocol.ts'
import { flagOf, listOf, type Maybe, objectOf, tagOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { findSchemaProblem } from '../../tool-schema.ts'

export function decodeTools(value: Maybe): readonly Tool[] | Refused {
  const tools: Tool[] = []
  for (const [index, entry] of listOf(value).entries()) {
    const decoded = decodeTool(entry, `tools[${index}]`)
    if (isRefused(decoded)) return decoded
    addAll(tools, decoded)
  }
  return tools
}

function decodeTool(entry: JsonValue, field: string): readonly Tool[] | Refused {
  if (!isJsonObject(entry)) return refused(field, 'must be an object')
  switch (tagOf(entry.type)) {
    case 'namespace':
      return decodeNamespace(entry, field)
    case 'custom':
      return listed(decodeCustom(entry, field, undefined))
    case 'function':
    case '':
      return listed(decodeFunction(entry, field, undefined))
    default:
      return nestsTooDeep(entry) ? refused(field, 'is nested too deeply') : [hosted(entry)]
  }
}

function listed(tool: Tool | Refused): readonly Tool[] | Refused {
  return isRefused(tool) ? tool : [tool]
}

/** Codex groups the tools of a server under a name; other protocols get them flat (docs/protocols.md#client-7). */
function decodeNamespace(entry: JsonObject, field: string): readonly Tool[] | Refused {
  const namespace = wordOf(entry.name)
  if (namespace === undefined) return refused(`${field}.name`, 'is required')
  const tools: Tool[] = []
  for (const [index, member] of listOf(entry.tools).entries()) {
    const place = `${field}.tools[${index}]`
    if (!isJsonObject(member)) return refused(place, 'must be an object')
    const tool =
      member.type === 'custom'
        ? decodeCustom(member, place, namespace)
        : decodeFunction(member, place, namespace)
    if (isRefused(tool)) return tool
    tools.push(tool)
  }
  return tools
}

function decodeFunction(
  entry: JsonObject,
  field: string,
  namespace: string | undefined,
): FunctionTool | Refused {
  // Some clients send chat's nested form.
  const definition = objectOf(entry.function) ?? entry
  const name = wordOf(definition.name)
  if (name === undefined) return refused(`${field}.name`, 'is required')
  const problem = findSchemaProblem(definition.parameters)
  if (problem !== undefined) return refused(`${field}.parameters`, problem)
  return {
    type: 'function',
    name,
    namespace,
    description: textOf(definition.description),
    parameters: definition.parameters ?? undefined,
    strict: flagOf(definition.strict),
  }
}

function decodeCustom(entry: JsonObject, field: string, namespace: string | undefined): CustomTool | Refused {
  const name = wordOf(entry.name)
  if (name === undefined) return refused(`${field}.name`, 'is required')
  const format = objectOf(entry.format)
  const syntax = wordOf(format?.syntax)
  const definition = wordOf(format?.definition)
  return {
    type: 'custom',
    name,
    namespace,
    description: textOf(entry.description),
    grammar: syntax === undefined || definition === undefined ? undefined : { syntax, definition },
  }
}

function hosted(json: JsonObject): HostedTool {
  return { type: 'hosted', name: hostedName(tagOf(json.type)), protocol: 'responses', json }
}

function hostedName(type: string): HostedTool['name'] {
  if (type.startsWith('web_search')) return 'web-search'
  switch (type) {
    case 'code_interpreter':
      return 'code-interpreter'
    case 'file_search':
      return 'file-search'
    case 'image_generation':
      return 'image-generation'
    default:
      return 'other'
  }
}

export function decodeToolChoice(
  choice: Maybe,
  tools: readonly Tool[],
  dropped: Set<string>,
): ToolChoice | undefined | Refused {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice }
  if (!isJsonObject(choice)) return refused('tool_choice', 'must be auto, none, required or an object')
  switch (tagOf(choice.type)) {
    case 'function':
    case 'custom':
      return decodeNamed(choice, tools)
    case 'allowed_tools':
      return decodeAllowed(choice)
    default:
      // A provider's tool: it is not known yet whether the target has it, so the choice is left to the model.
      dropped.add('tool_choice')
      return { kind: 'auto', hosted: hostedName(tagOf(choice.type)) }
  }
}

function decodeNamed(choice: JsonObject, tools: readonly Tool[]): ToolChoice | Refused {
  const name = wordOf(choice.name) ?? wordOf(objectOf(choice.function)?.name)
  if (name === undefined) return refused('tool_choice.name', 'is required')
  const known = tools.some((tool) => tool.type !== 'hosted' && tool.name === name)
  return known
    ? { kind: 'tool', name }
    : refused('tool_choice', `the tool ${JSON.stringify(name)} is not in tools`)
}

function decodeAllowed(choice: JsonObject): ToolChoice {
  const names = listOf(choice.tools).flatMap((entry) => wordOf(objectOf(entry)?.name) ?? [])
  return { kind: 'allowed', mode: choice.mode === 'required' ? 'required' : 'auto', names }
}
