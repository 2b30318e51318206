/**
 * The response object around an answer: every field the Open Responses schema requires, settings echoed from the
 * request (docs/protocols.md#responses-answers). The part that never changes is written once per call.
 */
import { parseJson } from '../../../canonical/json-text.ts'
import type { CanonicalRequest, OutputFormat, Tool, ToolChoice } from '../../../canonical/request.ts'
import { flatToolName } from '../../../canonical/tools/tool-names.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import { withPrefix } from '../../prefix.ts'
import type { ReplyContext } from '../../protocol.ts'

/** The id clients see and may continue from. */
export function responseObjectId({ responseId }: ReplyContext): string {
  return withPrefix('resp_', responseId)
}

/** The same as JSON text. */
export function constantText(context: ReplyContext): string {
  if (context.echo === undefined) return JSON.stringify(constantFields(context))
  return `{"model":${JSON.stringify(context.model)},${context.echo.slice(1)}`
}

/** What every state of one response has in common. */
export function constantFields(context: ReplyContext): JsonObject {
  const written = context.echo === undefined ? undefined : parseJson(context.echo)
  const echo = isJsonObject(written) ? written : echoOf(context.request)
  return { model: context.model, ...echo }
}

/** Settings of a request as its response repeats them. */
export function echoOf(request: CanonicalRequest): JsonObject {
  return {
    ...echoState(request),
    ...echoTools(request),
    ...echoSampling(request),
    ...echoIdentity(request),
  }
}

function echoState({ state, system, maxOutputTokens }: CanonicalRequest): JsonObject {
  const instructions = system.filter((part) => part.instructions === true).map((part) => part.text)
  return {
    previous_response_id: state.previousResponseId ?? null,
    instructions: instructions.length === 0 ? null : instructions.join('\n\n'),
    max_output_tokens: maxOutputTokens ?? null,
    max_tool_calls: null,
    // The protocol's own default is to keep an answer.
    store: state.store ?? true,
    background: false,
    truncation: 'disabled',
  }
}

function echoTools({ tools, toolChoice, parallelToolCalls }: CanonicalRequest): JsonObject {
  return {
    tools: echoedTools(tools),
    tool_choice: toolChoice === undefined ? 'auto' : echoedChoice(toolChoice, tools),
    parallel_tool_calls: parallelToolCalls ?? true,
  }
}

/** Tools of a namespace are shown inside it again. */
function echoedTools(tools: readonly Tool[]): readonly JsonObject[] {
  const echoed: JsonObject[] = []
  const groups = new Map<string, JsonObject[]>()
  for (const tool of tools) {
    const namespace = tool.type === 'hosted' ? undefined : tool.namespace
    const shown = echoedTool(tool)
    if (shown === undefined) continue
    if (namespace === undefined) {
      echoed.push(shown)
      continue
    }
    const group = groups.get(namespace) ?? []
    if (group.length === 0)
      echoed.push({ type: 'namespace', name: namespace, description: null, tools: group })
    group.push(shown)
    groups.set(namespace, group)
  }
  return echoed
}

function echoedTool(tool: Tool): JsonObject | undefined {
  switch (tool.type) {
    case 'function':
      return {
        type: 'function',
        name: tool.name,
        description: tool.description ?? null,
        parameters: tool.parameters ?? null,
        strict: tool.strict ?? false,
      }
    case 'custom':
      return {
        type: 'custom',
        name: tool.name,
        description: tool.description ?? null,
        format: tool.grammar === undefined ? { type: 'text' } : { type: 'grammar', ...tool.grammar },
      }
    case 'hosted':
      return tool.protocol === 'responses' ? tool.json : undefined
  }
}

function echoedChoice(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  switch (choice.kind) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.kind
    case 'tool':
      return named(choice.name, customNames(tools))
    case 'allowed': {
      const custom = customNames(tools)
      return {
        type: 'allowed_tools',
        mode: choice.mode,
        tools: choice.names.map((name) => named(name, custom)),
      }
    }
  }
}

function customNames(tools: readonly Tool[]): ReadonlySet<string> {
  const names = tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name, flatToolName(tool)] : []))
  return new Set(names)
}

function named(name: string, custom: ReadonlySet<string>): JsonObject {
  return { type: custom.has(name) ? 'custom' : 'function', name }
}

/** The schema requires numbers; without the client's own, the protocol's defaults are used. */
function echoSampling({ sampling, logprobs, output, verbosity, reasoning }: CanonicalRequest): JsonObject {
  return {
    temperature: sampling.temperature ?? 1,
    top_p: sampling.topP ?? 1,
    presence_penalty: sampling.presencePenalty ?? 0,
    frequency_penalty: sampling.frequencyPenalty ?? 0,
    top_logprobs: logprobs?.top ?? 0,
    text: { format: echoedFormat(output), ...(verbosity === undefined ? {} : { verbosity }) },
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
  }
}

function echoedFormat(output: OutputFormat): JsonObject {
  switch (output.kind) {
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'json-schema':
      return {
        type: 'json_schema',
        name: output.name ?? 'response',
        description: output.description ?? null,
        schema: output.schema,
        strict: output.strict ?? false,
      }
  }
}

function echoIdentity({ metadata, user, promptCacheKey, serviceTier }: CanonicalRequest): JsonObject {
  return {
    metadata: metadata ?? {},
    user: user ?? null,
    safety_identifier: null,
    prompt_cache_key: promptCacheKey ?? null,
    service_tier: serviceTier ?? 'default',
  }
}
