/** Canonical request → a responses body for one chain. What the chain cannot express is named in `dropped`. */
import { CACHE_MARKS_MAX, keepCacheMarks } from '../../../canonical/cache-marks.ts'
import { effortOf, nearestEffort } from '../../../canonical/effort.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { JsonObject } from '../../../json.ts'
import {
  clampTemperature,
  cutAt,
  findImpossible,
  shortUser,
  takesHeat,
  tierWord,
} from '../../chain-limits.ts'
import type { Encoded, EncodeTarget, Refused } from '../../protocol.ts'
import { isRefused } from '../../refusal.ts'
import { encodeSchema } from '../../tool-schema.ts'
import type { Encoding } from '../../encoding.ts'
import { encodeItems } from './encode-items.ts'
import { encodeTools } from './encode-tools.ts'

export function encodeRequest(request: CanonicalRequest, target: EncodeTarget): Encoded | Refused {
  // The protocol has one answer per request, whatever the chain can do.
  const problem = findImpossible(request, { ...target.capabilities, candidates: false })
  if (problem !== undefined) return problem
  const marks = keepCacheMarks(request, CACHE_MARKS_MAX)
  const encoding: Encoding = { request, target, marks, dropped: new Set() }
  // Tools first: their cache marks come before those of the conversation.
  const tools = encodeTools(encoding)
  if (isRefused(tools)) return tools
  const items = encodeItems(encoding)
  if (isRefused(items)) return items
  dropUnspeakable(encoding)
  const body = {
    model: target.forwardModelId,
    ...items,
    ...tools,
    ...encodeLimits(encoding),
    ...encodeText(encoding),
    ...encodeReasoningRequest(encoding),
    ...encodeInclude(encoding),
    ...encodeIdentity(encoding),
    ...encodeState(request),
    ...(request.stream ? { stream: true } : {}),
  }
  return { kind: 'encoded', body, dropped: [...encoding.dropped], ...cutAt(request.stop, []) }
}

/** Requested settings that this protocol does not have. */
function dropUnspeakable({ request, dropped }: Encoding): void {
  const { sampling, stop, cacheAll } = request
  const fields = ['topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const
  for (const field of fields) if (sampling[field] !== undefined) dropped.add(field)
  if (stop.length > 0) dropped.add('stop')
  if (cacheAll !== undefined) dropped.add('cacheAll')
}

function encodeLimits({ request, target, dropped }: Encoding): JsonObject {
  const { maxOutputTokens, sampling } = request
  const { capabilities } = target
  const heat = takesHeat(request, capabilities)
  const topPToo = heat && (capabilities.sampling !== 'one' || sampling.temperature === undefined)
  if (sampling.temperature !== undefined && !heat) dropped.add('temperature')
  if (sampling.topP !== undefined && !topPToo) dropped.add('topP')
  return {
    ...(maxOutputTokens === undefined
      ? {}
      : { max_output_tokens: Math.max(maxOutputTokens, capabilities.outputTokensMin) }),
    ...(sampling.temperature === undefined || !heat
      ? {}
      : { temperature: clampTemperature(sampling.temperature, capabilities) }),
    ...(sampling.topP === undefined || !topPToo ? {} : { top_p: sampling.topP }),
  }
}

function encodeText(encoding: Encoding): JsonObject {
  const { request, target, dropped } = encoding
  const { verbosity } = request
  if (verbosity !== undefined && !target.capabilities.verbosity) dropped.add('verbosity')
  const format = encodeFormat(encoding)
  const text = {
    ...(format === undefined ? {} : { format }),
    ...(verbosity === undefined || !target.capabilities.verbosity ? {} : { verbosity }),
  }
  return Object.keys(text).length === 0 ? {} : { text }
}

function encodeFormat({ request, target, dropped }: Encoding): JsonObject | undefined {
  const { output } = request
  const { jsonObject, jsonSchema, schemaDialect } = target.capabilities
  if (output.kind === 'text') return undefined
  if (output.kind === 'json-schema' && jsonSchema) {
    return {
      type: 'json_schema',
      name: output.name ?? 'response',
      ...(output.description === undefined ? {} : { description: output.description }),
      schema: encodeSchema(output.schema, schemaDialect === 'anthropic' ? 'json-schema' : schemaDialect),
      strict: output.strict ?? false,
    }
  }
  // Less than was requested: noted in the log, not an error (docs/reference/contract.md#D-requests-30).
  if (output.kind === 'json-schema' || !jsonObject) dropped.add('output')
  return jsonObject ? { type: 'json_object' } : undefined
}

function encodeReasoningRequest({ request, target, dropped }: Encoding): JsonObject {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  const { capabilities } = target
  const wanted = effortOf(reasoning)
  if (capabilities.reasoning === 'none') {
    if (wanted !== undefined && wanted !== 'none') dropped.add('reasoning')
    return {}
  }
  const effort = wanted === undefined ? undefined : nearestEffort(wanted, capabilities.efforts)
  if (wanted !== undefined && effort === undefined) dropped.add('reasoning')
  const summary =
    wanted === 'none' ? undefined : (reasoning.summary ?? (reasoning.expose === true ? 'auto' : undefined))
  const members = {
    ...(effort === undefined ? {} : { effort }),
    ...(summary === undefined ? {} : { summary }),
  }
  return Object.keys(members).length === 0 ? {} : { reasoning: members }
}

/**
 * Nothing is kept at the provider, so reasoning can only be sent back as encrypted content
 * (docs/protocols.md#responses-requests).
 */
function encodeInclude({ request, target, dropped }: Encoding): JsonObject {
  const { capabilities } = target
  const { logprobs } = request
  if (logprobs !== undefined && !capabilities.logprobs) dropped.add('logprobs')
  const told = logprobs !== undefined && capabilities.logprobs
  const include = [
    ...(capabilities.reasoning === 'none' ? [] : ['reasoning.encrypted_content']),
    ...(told ? ['message.output_text.logprobs'] : []),
  ]
  return {
    ...(include.length === 0 ? {} : { include }),
    ...(told && logprobs.top > 0 ? { top_logprobs: logprobs.top } : {}),
  }
}

function encodeIdentity({ request, target, dropped }: Encoding): JsonObject {
  const { user, metadata, serviceTier, promptCacheKey } = request
  const { capabilities } = target
  if (user !== undefined && !capabilities.user) dropped.add('user')
  if (metadata !== undefined && !capabilities.metadata) dropped.add('metadata')
  if (serviceTier !== undefined && !capabilities.serviceTier) dropped.add('serviceTier')
  return {
    ...(user === undefined || !capabilities.user ? {} : { user: shortUser(user) }),
    ...(metadata === undefined || !capabilities.metadata ? {} : { metadata }),
    ...(serviceTier === undefined || !capabilities.serviceTier
      ? {}
      : { service_tier: tierWord(serviceTier) }),
    ...(promptCacheKey === undefined ? {} : { prompt_cache_key: promptCacheKey }),
  }
}

/** The provider keeps an answer only when the client asked for it; its own default is to keep it. */
function encodeState({ state }: CanonicalRequest): JsonObject {
  return {
    store: state.store === true,
    ...(state.previousResponseId === undefined ? {} : { previous_response_id: state.previousResponseId }),
  }
}
