/** A client's chat body → the canonical form. Every field without a counterpart is named in `dropped`. */
import { isEffort } from '../../../canonical/effort.ts'
import { nestsTooDeep } from '../../../canonical/json-text.ts'
import type {
  CanonicalRequest,
  OutputFormat,
  ReasoningRequest,
  Sampling,
} from '../../../canonical/request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import type { Decoded, Refused } from '../../protocol.ts'
import {
  countOf,
  flagOf,
  listOf,
  numberOf,
  objectOf,
  textOf,
  wordOf,
  type Maybe,
  tagOf,
} from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { findSchemaProblem } from '../../tool-schema.ts'
import { decodeCacheMark } from './cache-mark.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeToolChoice, decodeTools } from './tools.ts'

export function decodeRequest(body: JsonObject): Decoded<CanonicalRequest> {
  const problem = findMistypedField(body)
  if (problem !== undefined) return problem
  const dropped = new Set<string>(Object.keys(body).filter((key) => !READ.has(key) && isSet(body[key])))
  const messages = decodeMessages(body.messages, dropped)
  if (isRefused(messages)) return messages
  const tools = decodeTools(body, dropped)
  if (isRefused(tools)) return tools
  const toolChoice = decodeToolChoice(body, tools)
  if (isRefused(toolChoice)) return toolChoice
  const output = decodeOutput(body.response_format)
  if (isRefused(output)) return output
  const settings = decodeSettings(body, dropped)
  const value = { tools, toolChoice, output, ...messages, ...settings }
  return { kind: 'decoded', value, dropped: [...dropped] }
}

/** Fields the canonical form holds; everything else is dropped by name. */
const READ: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'response_format',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'thinking_budget',
  'include_reasoning',
  'stream',
  'stream_options',
  'n',
  'logprobs',
  'top_logprobs',
  'verbosity',
  'user',
  'safety_identifier',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'cache_control',
  'store',
  'web_search_options',
])

const NUMBERS = [
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'n',
  'top_logprobs',
  'thinking_budget',
] as const

const FLAGS = ['stream', 'parallel_tool_calls', 'logprobs', 'store', 'enable_thinking'] as const

function isSet(value: Maybe): boolean {
  return value !== undefined && value !== null
}

/** A setting of the wrong type has no meaning; a number out of range is left to the upstream. */
function findMistypedField(body: JsonObject): Refused | undefined {
  for (const field of NUMBERS) {
    if (isSet(body[field]) && numberOf(body[field]) === undefined) return refused(field, 'must be a number')
  }
  for (const field of FLAGS) {
    if (isSet(body[field]) && flagOf(body[field]) === undefined)
      return refused(field, 'must be true or false')
  }
  for (const field of ['metadata', 'web_search_options'] as const) {
    if (nestsTooDeep(body[field])) return refused(field, 'is nested too deeply')
  }
  const effort = body.reasoning_effort
  if (isSet(effort) && !isEffort(effort)) return refused('reasoning_effort', EFFORTS_SENTENCE)
  if (listOf(body.modalities).includes('audio')) {
    return refused('modalities', 'audio answers are not available for this model')
  }
  return stopProblem(body.stop)
}

const EFFORTS_SENTENCE = 'must be one of none, minimal, low, medium, high, xhigh, max'

function stopProblem(stop: Maybe): Refused | undefined {
  if (!isSet(stop) || typeof stop === 'string') return undefined
  const list = Array.isArray(stop) ? listOf(stop) : undefined
  if (list?.every((entry) => typeof entry === 'string')) return undefined
  return refused('stop', 'must be a string or an array of strings')
}

type Settings = Omit<CanonicalRequest, 'system' | 'turns' | 'tools' | 'toolChoice' | 'output'>

function decodeSettings(body: JsonObject, dropped: Set<string>): Settings {
  const stream = flagOf(body.stream) ?? false
  const user = textOf(body.user) ?? textOf(body.safety_identifier)
  if (isSet(body.user) && isSet(body.safety_identifier)) dropped.add('safety_identifier')
  return {
    parallelToolCalls: flagOf(body.parallel_tool_calls),
    maxOutputTokens: countOf(body.max_completion_tokens) ?? countOf(body.max_tokens),
    sampling: decodeSampling(body),
    stop: decodeStop(body.stop),
    reasoning: decodeReasoningRequest(body),
    stream,
    includeUsage: objectOf(body.stream_options)?.include_usage === true,
    candidates: countOf(body.n),
    logprobs: body.logprobs === true ? { top: countOf(body.top_logprobs) ?? 0 } : undefined,
    verbosity: decodeVerbosity(body.verbosity),
    user: user === '' ? undefined : user,
    metadata: objectOf(body.metadata),
    serviceTier: wordOf(body.service_tier),
    promptCacheKey: wordOf(body.prompt_cache_key),
    cacheAll: decodeCacheMark(body),
    state: { store: flagOf(body.store), previousResponseId: undefined },
  }
}

function decodeSampling(body: JsonObject): Sampling {
  return {
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    presencePenalty: numberOf(body.presence_penalty),
    frequencyPenalty: numberOf(body.frequency_penalty),
    seed: numberOf(body.seed),
  }
}

function decodeStop(stop: Maybe): readonly string[] {
  const list: readonly JsonValue[] = typeof stop === 'string' ? [stop] : listOf(stop)
  return list.filter((entry) => typeof entry === 'string').filter((entry) => entry !== '')
}

function decodeVerbosity(value: Maybe): CanonicalRequest['verbosity'] {
  return value === 'low' || value === 'medium' || value === 'high' ? value : undefined
}

/**
 * OpenAI's `reasoning_effort`, OpenRouter's `reasoning{effort,max_tokens,enabled,exclude}`, `thinking{type}` of
 * DeepSeek, z.ai and Doubao, `enable_thinking` and `thinking_budget` of Qwen: clients send the form of the vendor they
 * were written for.
 */
function decodeReasoningRequest(body: JsonObject): ReasoningRequest | undefined {
  const router = objectOf(body.reasoning)
  const thinking = objectOf(body.thinking)
  const effort = [body.reasoning_effort, router?.effort].find(isEffort) ?? switchedOff(body)
  const budgetTokens =
    numberOf(router?.max_tokens) ?? numberOf(thinking?.budget_tokens) ?? numberOf(body.thinking_budget)
  const wanted = router?.enabled === true || thinking?.type === 'enabled' || body.enable_thinking === true
  const hidden = router?.exclude === true || body.include_reasoning === false
  if (effort === undefined && budgetTokens === undefined && !wanted && !hidden) return undefined
  const expose = hidden ? false : effort === 'none' ? undefined : true
  return { effort, budgetTokens, expose, summary: undefined }
}

function switchedOff(body: JsonObject): 'none' | undefined {
  const off =
    objectOf(body.thinking)?.type === 'disabled' ||
    body.enable_thinking === false ||
    objectOf(body.reasoning)?.enabled === false
  return off ? 'none' : undefined
}

function decodeOutput(format: Maybe): OutputFormat | Refused {
  if (!isSet(format)) return { kind: 'text' }
  const object = objectOf(format)
  switch (tagOf(object?.type)) {
    case 'text':
      return { kind: 'text' }
    case 'json_object':
      return { kind: 'json' }
    case 'json_schema':
      return decodeSchema(object?.json_schema)
    default:
      return refused('response_format.type', 'must be text, json_object or json_schema')
  }
}

function decodeSchema(value: Maybe): OutputFormat | Refused {
  if (!isJsonObject(value)) return refused('response_format.json_schema', 'must be an object')
  // Several clients send the schema itself in place of its wrapper.
  const schema = value.schema ?? value
  const problem = findSchemaProblem(schema)
  if (problem !== undefined) return refused('response_format.json_schema.schema', problem)
  return {
    kind: 'json-schema',
    name: wordOf(value.name),
    description: wordOf(value.description),
    schema,
    strict: flagOf(value.strict),
  }
}
