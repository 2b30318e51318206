/** A client's responses body → the canonical form. Every field without a counterpart is named in `dropped`. */
import { isEffort } from '../../../canonical/effort.ts'
import { nestsTooDeep } from '../../../canonical/json-text.ts'
import type { CanonicalRequest, OutputFormat, ReasoningRequest } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import type { Decoded, Refused } from '../../protocol.ts'
import {
  countOf,
  flagOf,
  listOf,
  type Maybe,
  numberOf,
  objectOf,
  tagOf,
  textOf,
  wordOf,
} from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { findSchemaProblem } from '../../tool-schema.ts'
import { decodeItems } from './decode-items.ts'
import { decodeToolChoice, decodeTools } from './tools.ts'

export function decodeRequest(body: JsonObject): Decoded<CanonicalRequest> {
  const problem = findMistypedField(body) ?? findForeignState(body)
  if (problem !== undefined) return problem
  const dropped = new Set<string>(Object.keys(body).filter((key) => isDropped(key, body[key])))
  const previousResponseId = wordOf(body.previous_response_id)
  const items = decodeItems(body, previousResponseId !== undefined)
  if (isRefused(items)) return items
  const tools = decodeTools(body.tools)
  if (isRefused(tools)) return tools
  const toolChoice = decodeToolChoice(body.tool_choice, tools, dropped)
  if (isRefused(toolChoice)) return toolChoice
  const output = decodeOutput(objectOf(body.text)?.format)
  if (isRefused(output)) return output
  const state = { store: flagOf(body.store), previousResponseId }
  const settings = decodeSettings(body, dropped)
  const value = { tools, toolChoice, output, state, ...items, ...settings }
  return { kind: 'decoded', value, dropped: [...dropped] }
}

/** Fields the canonical form holds. */
const READ: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'text',
  'reasoning',
  'include',
  'top_logprobs',
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'store',
  'previous_response_id',
])

/** False for fields that request nothing: clients send the defaults. */
function isDropped(key: string, value: Maybe): boolean {
  if (READ.has(key) || value === undefined || value === null || value === false) return false
  if (key === 'truncation') return value !== 'disabled'
  // Random padding against traffic analysis: the gateway adds none, so nothing is lost.
  return key !== 'stream_options'
}

const NUMBERS = ['max_output_tokens', 'temperature', 'top_p', 'top_logprobs'] as const
const FLAGS = ['stream', 'store', 'parallel_tool_calls', 'background'] as const

function findMistypedField(body: JsonObject): Refused | undefined {
  for (const field of NUMBERS) {
    const value = body[field]
    if (value !== undefined && value !== null && numberOf(value) === undefined) {
      return refused(field, 'must be a number')
    }
  }
  for (const field of FLAGS) {
    const value = body[field]
    if (value !== undefined && value !== null && flagOf(value) === undefined) {
      return refused(field, 'must be true or false')
    }
  }
  if (nestsTooDeep(body.metadata)) return refused('metadata', 'is nested too deeply')
  const effort = objectOf(body.reasoning)?.effort
  if (effort === undefined || effort === null || isEffort(effort)) return undefined
  return refused('reasoning.effort', 'must be one of none, minimal, low, medium, high, xhigh, max')
}

/**
 * State that is kept at a provider, without which the request would be a different one
 * (docs/protocols.md#requests-between-protocols).
 */
function findForeignState(body: JsonObject): Refused | undefined {
  if (body.background === true)
    return refused('background', 'background responses are not available for this model')
  if (body.conversation !== undefined && body.conversation !== null) {
    return refused('conversation', 'stored conversations are not available for this model; send the items')
  }
  if (body.prompt !== undefined && body.prompt !== null) {
    return refused('prompt', 'stored prompts are not available for this model; send the instructions')
  }
  return undefined
}

type Settings = Omit<CanonicalRequest, 'system' | 'turns' | 'tools' | 'toolChoice' | 'output' | 'state'>

function decodeSettings(body: JsonObject, dropped: Set<string>): Settings {
  if (wordOf(body.user) !== undefined && wordOf(body.safety_identifier) !== undefined)
    dropped.add('safety_identifier')
  return {
    parallelToolCalls: flagOf(body.parallel_tool_calls),
    maxOutputTokens: countOf(body.max_output_tokens),
    sampling: {
      temperature: numberOf(body.temperature),
      topP: numberOf(body.top_p),
      topK: undefined,
      presencePenalty: undefined,
      frequencyPenalty: undefined,
      seed: undefined,
    },
    stop: [],
    reasoning: decodeReasoningRequest(objectOf(body.reasoning)),
    stream: flagOf(body.stream) ?? false,
    includeUsage: false,
    candidates: undefined,
    logprobs: decodeLogprobs(body),
    verbosity: decodeVerbosity(objectOf(body.text)?.verbosity),
    user: wordOf(body.user) ?? wordOf(body.safety_identifier),
    metadata: objectOf(body.metadata),
    serviceTier: wordOf(body.service_tier),
    promptCacheKey: wordOf(body.prompt_cache_key),
    cacheAll: undefined,
  }
}

/** `top_logprobs: 0` is the protocol's default and asks for none unless `include` does. */
function decodeLogprobs(body: JsonObject): CanonicalRequest['logprobs'] {
  const top = countOf(body.top_logprobs) ?? 0
  const included = listOf(body.include).includes('message.output_text.logprobs')
  return included || top > 0 ? { top } : undefined
}

function decodeVerbosity(value: Maybe): CanonicalRequest['verbosity'] {
  return value === 'low' || value === 'medium' || value === 'high' ? value : undefined
}

function decodeReasoningRequest(reasoning: JsonObject | undefined): ReasoningRequest | undefined {
  const effort = isEffort(reasoning?.effort) ? reasoning.effort : undefined
  const summary = summaryOf(reasoning?.summary) ?? summaryOf(reasoning?.generate_summary)
  if (effort === undefined && summary === undefined) return undefined
  return { effort, budgetTokens: undefined, expose: summary === undefined ? undefined : true, summary }
}

function summaryOf(value: Maybe): ReasoningRequest['summary'] {
  return value === 'auto' || value === 'concise' || value === 'detailed' ? value : undefined
}

/** `text:{}` and a missing format are plain text. */
function decodeOutput(value: Maybe): OutputFormat | Refused {
  if (value === undefined || value === null) return { kind: 'text' }
  const format = objectOf(value)
  switch (tagOf(format?.type)) {
    case 'text':
      return { kind: 'text' }
    case 'json_object':
      return { kind: 'json' }
    case 'json_schema':
      return decodeSchema(format ?? {})
    default:
      return refused('text.format.type', 'must be text, json_object or json_schema')
  }
}

function decodeSchema(format: JsonObject): OutputFormat | Refused {
  const schema = format.schema ?? undefined
  const problem = schema === undefined ? 'is required' : findSchemaProblem(schema)
  if (schema === undefined || problem !== undefined)
    return refused('text.format.schema', problem ?? 'is required')
  return {
    kind: 'json-schema',
    name: wordOf(format.name),
    description: textOf(format.description),
    schema,
    strict: flagOf(format.strict),
  }
}
