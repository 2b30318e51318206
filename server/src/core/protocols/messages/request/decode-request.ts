/** A messages client's request in canonical form (docs/protocols.md#requests-between-protocols). */
import type { CanonicalRequest, OutputFormat, ReasoningRequest } from '../../../canonical/request.ts'
import { isEffort } from '../../../canonical/effort.ts'
import { isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type { JsonObject } from '../../../json.ts'
import type { Decoded, Refused } from '../../protocol.ts'
import { flagOf, type Maybe, numberOf, objectOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import { decodeCache } from './cache-marks.ts'
import { decodeConversation } from './decode-turns.ts'

export function decodeRequest(body: JsonObject): Decoded<CanonicalRequest> {
  const refusal = refuseThread(body.thread) ?? refuseNumbers(body)
  if (refusal !== undefined) return refusal
  const dropped = new Set<string>(unknownMembers(body))
  const conversation = decodeConversation(body, dropped)
  if (isRefused(conversation)) return conversation
  const tools = decodeTools(body.tools, dropped)
  if (isRefused(tools)) return tools
  const toolChoice = decodeToolChoice(body.tool_choice, tools)
  if (isRefused(toolChoice)) return toolChoice
  const stop = decodeStop(body.stop_sequences)
  if (isRefused(stop)) return stop
  const output = decodeOutput(body)
  if (isRefused(output)) return output
  const value: CanonicalRequest = {
    tools,
    maxOutputTokens: numberOf(body.max_tokens),
    sampling: {
      temperature: numberOf(body.temperature),
      topP: numberOf(body.top_p),
      topK: numberOf(body.top_k),
      presencePenalty: undefined,
      frequencyPenalty: undefined,
      seed: undefined,
    },
    stop,
    output,
    reasoning: decodeReasoning(body, dropped),
    stream: flagOf(body.stream) ?? false,
    includeUsage: true,
    candidates: undefined,
    logprobs: undefined,
    verbosity: undefined,
    user: decodeUser(body.metadata, dropped),
    metadata: undefined,
    serviceTier: decodeServiceTier(body.service_tier),
    promptCacheKey: undefined,
    cacheAll: decodeCache(body.cache_control),
    state: { store: undefined, previousResponseId: undefined },
    ...conversation,
    ...toolChoice,
  }
  return { kind: 'decoded', value, dropped: [...dropped] }
}

/**
 * A thread keeps the conversation at Anthropic, so the request holds only its newest message. This answer makes the
 * official client send the whole history instead; a plain 400 makes it throw (docs/protocols.md#client-2).
 */
function refuseThread(thread: Maybe): Refused | undefined {
  if (thread === undefined || thread === null) return undefined
  return {
    ...refused('thread', 'message threads are not available for this model: send the messages'),
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  }
}

function refuseNumbers(body: JsonObject): Refused | undefined {
  for (const field of ['max_tokens', 'temperature', 'top_p', 'top_k']) {
    const value = body[field]
    if (value !== undefined && value !== null && numberOf(value) === undefined) {
      return refused(field, 'must be a number')
    }
  }
  const maxTokens = numberOf(body.max_tokens)
  // 0 only fills Anthropic's cache, which no other upstream has.
  if (maxTokens !== undefined && maxTokens < 1) return refused('max_tokens', 'must be at least 1')
  return undefined
}

const KNOWN: ReadonlySet<string> = new Set(
  (
    'model messages system max_tokens tools tool_choice stop_sequences stream temperature top_p top_k ' +
    'thinking output_config output_format metadata service_tier cache_control thread'
  ).split(' '),
)

/** The client chose these names: only plain ones are repeated in the message. */
function unknownMembers(body: JsonObject): readonly string[] {
  return Object.keys(body).filter(
    (name) => !KNOWN.has(name) && body[name] !== null && /^[a-zA-Z0-9_.-]{1,64}$/.test(name),
  )
}

function decodeStop(value: Maybe): readonly string[] | Refused {
  if (value === undefined || value === null) return []
  if (!isJsonArray(value)) return refused('stop_sequences', 'must be an array of strings')
  const texts = value.filter((item) => typeof item === 'string')
  return texts.length === value.length ? texts : refused('stop_sequences', 'must be an array of strings')
}

function decodeOutput(body: JsonObject): OutputFormat | Refused {
  const format = objectOf(objectOf(body.output_config)?.format) ?? objectOf(body.output_format)
  if (format === undefined) return { kind: 'text' }
  const field = objectOf(body.output_config)?.format === undefined ? 'output_format' : 'output_config.format'
  if (format.type !== 'json_schema') return refused(`${field}.type`, 'must be json_schema')
  if (objectOf(format.schema) === undefined) return refused(`${field}.schema`, 'must be an object')
  if (nestsTooDeep(format.schema)) return refused(`${field}.schema`, 'is nested too deeply')
  return {
    kind: 'json-schema',
    name: undefined,
    description: undefined,
    schema: format.schema ?? {},
    strict: undefined,
  }
}

/**
 * Thinking comes in three forms: a budget, left to the model, or off; `output_config.effort` may accompany them or be
 * alone. Which form the model accepts depends on the chain, not on the client's guess from the model id.
 */
function decodeReasoning(body: JsonObject, dropped: Set<string>): ReasoningRequest | undefined {
  const thinking = objectOf(body.thinking)
  const named = objectOf(body.output_config)?.effort
  const effort = isEffort(named) ? named : undefined
  const display = textOf(thinking?.display)
  const shown = {
    expose: display !== 'omitted',
    summary: display === 'summarized' ? ('auto' as const) : undefined,
  }
  switch (textOf(thinking?.type) ?? '') {
    case 'enabled':
      return { effort, budgetTokens: numberOf(thinking?.budget_tokens) ?? budgetMissing(effort), ...shown }
    case 'adaptive':
      return { effort, budgetTokens: effort === undefined ? -1 : undefined, ...shown }
    case 'disabled':
      if (effort !== undefined) dropped.add('output_config.effort')
      return { effort: 'none', budgetTokens: undefined, expose: false, summary: undefined }
    default:
      if (effort === undefined) return undefined
      return { effort, budgetTokens: undefined, expose: undefined, summary: undefined }
  }
}

function budgetMissing(effort: unknown): number | undefined {
  return effort === undefined ? -1 : undefined
}

function decodeUser(value: Maybe, dropped: Set<string>): string | undefined {
  const metadata = objectOf(value)
  if (metadata === undefined) return undefined
  for (const name of Object.keys(metadata)) {
    if (name !== 'user_id' && /^[a-zA-Z0-9_.-]{1,64}$/.test(name)) dropped.add(`metadata.${name}`)
  }
  return wordOf(metadata.user_id)
}

/** In the chat protocol's values, as everywhere in the canonical form. */
function decodeServiceTier(value: Maybe): string | undefined {
  return value === 'standard_only' ? 'default' : textOf(value)
}
