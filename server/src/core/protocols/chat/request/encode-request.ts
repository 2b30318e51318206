/** Canonical request → a chat body for one chain. What the chain cannot express is named in `dropped`. */
import { CACHE_MARKS_MAX, keepCacheMarks } from '../../../canonical/cache-marks.ts'
import { budgetForEffort, effortOf, nearestEffort } from '../../../canonical/effort.ts'
import type { CanonicalRequest, ReasoningRequest } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import {
  clampTemperature,
  cutAt,
  findImpossible,
  shortUser,
  takesHeat,
  tierWord,
} from '../../chain-limits.ts'
import type { Capabilities, Encoded, EncodeTarget, Refused } from '../../protocol.ts'
import { isRefused, unsupported } from '../../refusal.ts'
import { encodeSchema } from '../../tool-schema.ts'
import { encodeCacheMark } from './cache-mark.ts'
import type { Encoding } from '../../encoding.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeTools } from './encode-tools.ts'

export function encodeRequest(request: CanonicalRequest, target: EncodeTarget): Encoded | Refused {
  if (request.state.previousResponseId !== undefined) {
    return unsupported('previousResponseId', 'the response it names is not known here')
  }
  const problem = findImpossible(request, target.capabilities)
  if (problem !== undefined) return problem
  const marks = keepCacheMarks(request, CACHE_MARKS_MAX)
  const encoding: Encoding = { request, target, marks, dropped: new Set() }
  // Tools first: their cache marks come before those of the conversation.
  const tools = encodeTools(encoding)
  if (isRefused(tools)) return tools
  const messages = encodeMessages(encoding)
  if (isRefused(messages)) return messages
  const body = {
    model: target.forwardModelId,
    messages,
    ...tools,
    ...encodeLimits(encoding),
    ...encodeSampling(encoding),
    ...encodeOutput(encoding),
    ...encodeReasoningRequest(encoding),
    ...encodeIdentity(encoding),
    ...encodeStream(encoding),
  }
  return {
    kind: 'encoded',
    body,
    dropped: [...encoding.dropped],
    ...cutAt(request.stop, request.stop.slice(0, target.capabilities.stopMax)),
  }
}

function encodeLimits({ request, target, dropped }: Encoding): JsonObject {
  const { maxOutputTokens, stop, candidates } = request
  const { outputTokensField, outputTokensMin, stopMax } = target.capabilities
  if (stop.length > stopMax) dropped.add('stop')
  const sequences = stop.slice(0, stopMax)
  return {
    ...(maxOutputTokens === undefined
      ? {}
      : { [outputTokensField]: Math.max(maxOutputTokens, outputTokensMin) }),
    ...(sequences.length === 0 ? {} : { stop: sequences }),
    ...(candidates === undefined || !target.capabilities.candidates ? {} : { n: candidates }),
  }
}

function encodeSampling({ request, target, dropped }: Encoding): JsonObject {
  const { sampling, logprobs } = request
  const { capabilities } = target
  const fields: Record<string, number | boolean> = {}
  const offer = (field: SamplingField, taken: boolean): void => {
    const value = sampling[field]
    if (value === undefined) return
    if (taken) fields[SAMPLING_NAMES[field]] = value
    else dropped.add(field)
  }
  const heat = takesHeat(request, capabilities)
  offer('temperature', heat)
  offer('topP', heat && (capabilities.sampling !== 'one' || sampling.temperature === undefined))
  offer('topK', heat && capabilities.topK)
  offer('presencePenalty', capabilities.penalties)
  offer('frequencyPenalty', capabilities.penalties)
  offer('seed', capabilities.seed)
  if (fields.temperature !== undefined)
    fields.temperature = clampTemperature(Number(fields.temperature), capabilities)
  if (logprobs === undefined) return fields
  if (!capabilities.logprobs) {
    dropped.add('logprobs')
    return fields
  }
  return { ...fields, logprobs: true, ...(logprobs.top === 0 ? {} : { top_logprobs: logprobs.top }) }
}

const SAMPLING_NAMES = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
} as const
type SamplingField = keyof typeof SAMPLING_NAMES

function encodeOutput({ request, target, dropped }: Encoding): JsonObject {
  const { output, verbosity } = request
  const { jsonObject, jsonSchema, schemaDialect } = target.capabilities
  if (verbosity !== undefined && !target.capabilities.verbosity) dropped.add('verbosity')
  const wordy = verbosity === undefined || !target.capabilities.verbosity ? {} : { verbosity }
  if (output.kind === 'text') return wordy
  if (output.kind === 'json-schema' && jsonSchema) {
    const { name, description, schema, strict } = output
    const wrapped = {
      name: name ?? 'response',
      ...(description === undefined ? {} : { description }),
      schema: encodeSchema(schema, schemaDialect === 'anthropic' ? 'json-schema' : schemaDialect),
      ...(strict === undefined ? {} : { strict }),
    }
    return { ...wordy, response_format: { type: 'json_schema', json_schema: wrapped } }
  }
  // Less than was requested: noted in the log, not an error (docs/reference/contract.md#D-requests-30).
  if (output.kind === 'json-schema' || !jsonObject) dropped.add('output')
  return jsonObject ? { ...wordy, response_format: { type: 'json_object' } } : wordy
}

function encodeReasoningRequest({ request, target, dropped }: Encoding): JsonObject {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  const fields = reasoningFields(reasoning, target.capabilities)
  if (fields === undefined) dropped.add('reasoning')
  return fields ?? {}
}

/** `undefined`: the chain cannot express the request. */
function reasoningFields(reasoning: ReasoningRequest, capabilities: Capabilities): JsonObject | undefined {
  const effort = effortOf(reasoning)
  switch (capabilities.reasoning) {
    case 'none':
      return effort === undefined || effort === 'none' ? {} : undefined
    case 'effort':
    case 'adaptive':
    case 'level': {
      if (effort === undefined) return {}
      const nearest = nearestEffort(effort, capabilities.efforts)
      return nearest === undefined ? undefined : { reasoning_effort: nearest }
    }
    case 'toggle':
      return isSilent(reasoning) ? {} : switchFields(effort !== 'none', capabilities)
    case 'budget': {
      if (isSilent(reasoning)) return {}
      const on = effort !== 'none'
      const tokens = reasoning.budgetTokens ?? (effort === undefined ? undefined : budgetForEffort(effort))
      return {
        ...switchFields(on, capabilities),
        ...(on && tokens !== undefined ? budgetFields(tokens, capabilities) : {}),
      }
    }
  }
}

/** A request for a summary alone does not say whether to reason. */
function isSilent({ effort, budgetTokens, summary }: ReasoningRequest): boolean {
  return effort === undefined && budgetTokens === undefined && summary !== undefined
}

function switchFields(on: boolean, { reasoningSwitch }: Capabilities): JsonObject {
  if (reasoningSwitch === 'enable_thinking') return { enable_thinking: on }
  return { thinking: { type: on ? 'enabled' : 'disabled' } }
}

function budgetFields(tokens: number, { reasoningSwitch }: Capabilities): JsonObject {
  if (tokens < 0) return {}
  if (reasoningSwitch === 'enable_thinking') return { thinking_budget: tokens }
  return { thinking: { type: 'enabled', budget_tokens: tokens } }
}

function encodeIdentity(encoding: Encoding): JsonObject {
  const { request, target, dropped } = encoding
  const { capabilities } = target
  const { user, metadata, serviceTier, promptCacheKey, cacheAll } = request
  if (user !== undefined && !capabilities.user) dropped.add('user')
  if (metadata !== undefined && !capabilities.metadata) dropped.add('metadata')
  if (serviceTier !== undefined && !capabilities.serviceTier) dropped.add('serviceTier')
  if (promptCacheKey !== undefined && capabilities.promptCacheKey !== true) dropped.add('promptCacheKey')
  if (cacheAll !== undefined && capabilities.cacheMarks !== 'anthropic') dropped.add('cacheAll')
  return {
    ...(user === undefined || !capabilities.user ? {} : { user: shortUser(user) }),
    ...(metadata === undefined || !capabilities.metadata ? {} : { metadata }),
    ...(serviceTier === undefined || !capabilities.serviceTier
      ? {}
      : { service_tier: tierWord(serviceTier) }),
    ...(promptCacheKey === undefined || capabilities.promptCacheKey !== true
      ? {}
      : { prompt_cache_key: promptCacheKey }),
    ...(capabilities.cacheMarks === 'anthropic' ? encodeCacheMark(cacheAll, 'anthropic') : {}),
  }
}

/** Usage is always requested, whatever the client wants: the call is metered by it. */
function encodeStream({ request, target }: Encoding): JsonObject {
  if (!request.stream) return {}
  return {
    stream: true,
    ...(target.capabilities.includeUsage ? { stream_options: { include_usage: true } } : {}),
  }
}
