/**
 * A canonical request for a Gemini upstream, limited to what the chain's model accepts
 * (docs/protocols.md#requests-between-protocols).
 */
import { markedFields } from '../../../canonical/cache-marks.ts'
import {
  effortOf,
  GEMINI_BUDGET_MIN_TOKENS,
  geminiBudgetForEffort,
  levelForEffort,
  nearestEffort,
} from '../../../canonical/effort.ts'
import type { CanonicalRequest, ReasoningRequest } from '../../../canonical/request.ts'
import { toOpenApiSubset } from '../../../canonical/tools/schema.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import { clampTemperature, cutAt, findImpossible } from '../../chain-limits.ts'
import type { Capabilities, Encoded, EncodeTarget, Refused } from '../../protocol.ts'
import { isRefused } from '../../refusal.ts'
import { encodeToolConfig, encodeTools } from './encode-tools.ts'
import { encodeContents } from './encode-turns.ts'
import { type OutputPlan, type Plan, withoutDialect } from './plan.ts'

/** The model and whether to stream are in the path, which the provider's dialect builds. */
export function encodeRequest(request: CanonicalRequest, target: EncodeTarget): Encoded | Refused {
  const { capabilities } = target
  const refusal = findImpossible(request, {
    ...capabilities,
    // Upstream refuses streams with several candidates.
    candidates: capabilities.candidates && !request.stream,
  })
  if (refusal !== undefined) return refusal
  const plan: Plan = {
    request,
    target,
    dropped: new Set(unsaid(request)),
    output: planOutput(request, target),
  }
  const contents = encodeContents(plan)
  if (isRefused(contents)) return contents
  const system = encodeSystem(plan)
  const tools = encodeTools(plan)
  const config = {
    ...encodeSampling(plan),
    ...encodeOutput(plan),
    ...encodeThinking(plan),
  }
  const body: JsonObject = {
    contents,
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    ...(tools.length === 0 ? {} : { tools }),
    ...encodeToolConfig(plan, tools),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...encodeServiceTier(plan),
  }
  return { kind: 'encoded', body, dropped: [...plan.dropped], ...cutAt(request.stop, takenStops(plan)) }
}

/**
 * Before its third generation Gemini refuses a JSON answer together with functions (docs/protocols.md#gemini-requests).
 */
function planOutput({ output, tools }: CanonicalRequest, { capabilities }: EncodeTarget): OutputPlan {
  if (output.kind === 'text') return 'text'
  if (tools.length > 0 && capabilities.reasoning !== 'level') return 'told'
  if (output.kind === 'json') return capabilities.jsonObject ? 'json' : 'told'
  if (capabilities.jsonSchema) return 'schema'
  return 'told'
}

/** Requested settings that no Gemini upstream has. */
function unsaid(request: CanonicalRequest): readonly string[] {
  const absent = {
    parallelToolCalls: request.parallelToolCalls === false ? false : undefined,
    verbosity: request.verbosity,
    user: request.user,
    metadata: request.metadata,
    promptCacheKey: request.promptCacheKey,
    cacheAll: request.cacheAll,
  }
  const fields = Object.entries(absent).flatMap(([field, value]) => (value === undefined ? [] : [field]))
  return [...fields, ...markedFields(request)]
}

function encodeSystem({ request, output }: Plan): readonly JsonObject[] {
  const parts = request.system.filter(({ text }) => text !== '').map(({ text }) => ({ text }))
  return output === 'told' ? [...parts, { text: instruction(request) }] : parts
}

function instruction({ output }: CanonicalRequest): string {
  const plain = 'Answer with one JSON value and nothing else.'
  if (output.kind !== 'json-schema') return plain
  return `${plain} It must match this JSON Schema: ${JSON.stringify(output.schema)}`
}

function takenStops({ request, target }: Plan): readonly string[] {
  return request.stop.filter((sequence) => sequence !== '').slice(0, target.capabilities.stopMax)
}

function encodeSampling(plan: Plan): JsonObject {
  const { request, target, dropped } = plan
  const { capabilities } = target
  const { sampling, logprobs, candidates, stop } = request
  const free = capabilities.sampling !== 'none'
  const single = capabilities.sampling === 'one' && sampling.temperature !== undefined
  const wanted: readonly Setting[] = [
    ['temperature', 'temperature', temperatureOf(sampling.temperature, capabilities), free],
    ['topP', 'topP', sampling.topP, free && !single],
    ['topK', 'topK', sampling.topK, free && capabilities.topK],
    ['presencePenalty', 'presencePenalty', sampling.presencePenalty, capabilities.penalties],
    ['frequencyPenalty', 'frequencyPenalty', sampling.frequencyPenalty, capabilities.penalties],
    ['seed', 'seed', sampling.seed, capabilities.seed],
    ['logprobs', 'responseLogprobs', logprobs === undefined ? undefined : true, capabilities.logprobs],
  ]
  const sequences = takenStops(plan)
  if (sequences.length < stop.length) dropped.add('stop')
  return {
    ...kept(wanted, dropped),
    ...((logprobs?.top ?? 0) > 0 && capabilities.logprobs ? { logprobs: logprobs?.top } : {}),
    ...(candidates === undefined || candidates === 1 ? {} : { candidateCount: candidates }),
    ...(request.maxOutputTokens === undefined
      ? {}
      : { maxOutputTokens: Math.max(capabilities.outputTokensMin, request.maxOutputTokens) }),
    ...(sequences.length === 0 ? {} : { stopSequences: sequences }),
  }
}

/** Canonical field, wire member, value, and whether this model accepts it. */
type Setting = readonly [field: string, name: string, value: JsonValue | undefined, taken: boolean]

function temperatureOf(value: number | undefined, capabilities: Capabilities): number | undefined {
  return value === undefined ? undefined : clampTemperature(value, capabilities)
}

function kept(settings: readonly Setting[], dropped: Set<string>): JsonObject {
  const taken: [string, JsonValue][] = []
  for (const [field, name, value, isTaken] of settings) {
    if (value === undefined) continue
    if (isTaken) taken.push([name, value])
    else dropped.add(field)
  }
  return Object.fromEntries(taken)
}

function encodeOutput({ request, target, output }: Plan): JsonObject {
  switch (output) {
    case 'text':
    case 'told':
      return {}
    case 'json':
      return { responseMimeType: 'application/json' }
    case 'schema': {
      const schema = request.output.kind === 'json-schema' ? request.output.schema : {}
      return target.capabilities.schemaDialect === 'openapi-subset'
        ? { responseMimeType: 'application/json', responseSchema: toOpenApiSubset(schema) }
        : { responseMimeType: 'application/json', responseJsonSchema: withoutDialect(schema) }
    }
  }
}

function encodeThinking({ request, target, dropped }: Plan): JsonObject {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  const { capabilities } = target
  const includeThoughts = reasoning.expose !== false && effortOf(reasoning) !== 'none'
  switch (capabilities.reasoning) {
    case 'none':
      if (effortOf(reasoning) !== 'none') dropped.add('reasoning')
      return {}
    case 'level':
    case 'effort':
    case 'adaptive':
      return { thinkingConfig: { includeThoughts, ...thinkingLevel(reasoning, target) } }
    case 'budget':
    case 'toggle':
      return { thinkingConfig: { includeThoughts, ...thinkingBudget(reasoning, target) } }
  }
}

function thinkingLevel(reasoning: ReasoningRequest, target: EncodeTarget): JsonObject {
  const effort =
    reasoning.effort === undefined && (reasoning.budgetTokens ?? -1) < 0 ? undefined : effortOf(reasoning)
  const nearest = effort === undefined ? undefined : nearestEffort(effort, target.capabilities.efforts)
  return nearest === undefined ? {} : { thinkingLevel: levelForEffort(nearest) }
}

/** What every thinking 2.5 model takes at most. */
const BUDGET_MAX_TOKENS = 24_576

function thinkingBudget(reasoning: ReasoningRequest, target: EncodeTarget): JsonObject {
  const { effort, budgetTokens } = reasoning
  if (effort === undefined && budgetTokens === undefined) return {}
  if (effort === undefined && budgetTokens !== undefined && budgetTokens !== 0) {
    return { thinkingBudget: Math.min(budgetTokens, BUDGET_MAX_TOKENS) }
  }
  const wanted = effort ?? 'none'
  const nearest = nearestEffort(wanted, target.capabilities.efforts)
  if (nearest === undefined) return {}
  const least = wanted === 'none' && nearest !== 'none'
  return { thinkingBudget: least ? GEMINI_BUDGET_MIN_TOKENS : geminiBudgetForEffort(nearest) }
}

function encodeServiceTier({ request, target, dropped }: Plan): JsonObject {
  const { serviceTier } = request
  if (serviceTier === undefined || serviceTier === 'auto') return {}
  const tier = target.capabilities.serviceTier ? TIERS[serviceTier] : undefined
  if (tier === undefined) dropped.add('serviceTier')
  return tier === undefined ? {} : { serviceTier: tier }
}

const TIERS: Readonly<Record<string, string | undefined>> = {
  default: 'standard',
  flex: 'flex',
  priority: 'priority',
}
