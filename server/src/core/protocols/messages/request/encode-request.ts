/**
 * A canonical request for a messages upstream, limited to what the chain's model accepts
 * (docs/protocols.md#requests-between-protocols).
 */
import { BUDGET_MIN_TOKENS, budgetForEffort, effortOf, nearestEffort } from '../../../canonical/effort.ts'
import { mayReplay } from '../../../canonical/envelope.ts'
import type { CanonicalRequest, ReasoningRequest } from '../../../canonical/request.ts'
import { toAnthropicSchema } from '../../../canonical/tools/schema.ts'
import type { JsonObject } from '../../../json.ts'
import { clampTemperature, cutAt, findImpossible } from '../../chain-limits.ts'
import type { Encoded, EncodeTarget, Refused } from '../../protocol.ts'
import { isRefused } from '../../refusal.ts'
import { keepCacheControls } from './cache-marks.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { encodeSystem, encodeTurns } from './encode-turns.ts'
import type { Plan } from './plan.ts'

/** The protocol requires a cap; this is used if neither client nor catalogue has one. */
const OUTPUT_TOKENS_DEFAULT = 8192

export function encodeRequest(request: CanonicalRequest, target: EncodeTarget): Encoded | Refused {
  const refusal = refuseUnsayable(request, target)
  if (refusal !== undefined) return refusal
  const dropped = new Set<string>(unsaid(request))
  const thinking = encodeThinking(request, target, dropped)
  const plan: Plan = {
    request,
    target,
    dropped,
    thinks: thinking.on,
    jsonTool: needsJsonTool(request, target, thinking.on),
  }
  const marks = keepCacheControls(request, target.capabilities.cacheMarks)
  for (const field of marks.cut) dropped.add(field)
  const tools = encodeTools(plan, marks)
  const system = encodeSystem(plan, marks)
  const messages = encodeTurns(plan, marks)
  if (isRefused(messages)) return messages
  const whole = marks.whole()
  const body: JsonObject = {
    model: target.forwardModelId,
    max_tokens: thinking.maxTokens,
    messages: messages.map((message) => ({ ...message })),
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...encodeToolChoice(plan, tools.length > 0),
    ...thinking.fields,
    ...encodeOutput(plan, thinking.outputConfig),
    ...encodeSampling(plan),
    ...encodeStop(plan),
    ...encodeIdentity(plan),
    ...(whole === undefined ? {} : { cache_control: whole }),
    stream: request.stream,
  }
  return { kind: 'encoded', body, dropped: [...dropped], ...cutAt(request.stop, takenStops(plan)) }
}

/** A message is one answer; everything else that cannot be expressed is the same for all protocols. */
function refuseUnsayable(request: CanonicalRequest, { capabilities }: EncodeTarget): Refused | undefined {
  return findImpossible(request, { ...capabilities, candidates: false })
}

/** Requested settings that no messages upstream has. */
function unsaid(request: CanonicalRequest): readonly string[] {
  const { sampling } = request
  const absent = {
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    logprobs: request.logprobs,
    verbosity: request.verbosity,
    metadata: request.metadata,
    promptCacheKey: request.promptCacheKey,
  }
  return Object.entries(absent).flatMap(([field, value]) => (value === undefined ? [] : [field]))
}

interface Thinking {
  readonly on: boolean
  readonly maxTokens: number
  readonly fields: JsonObject
  readonly outputConfig: JsonObject
}

function encodeThinking(request: CanonicalRequest, target: EncodeTarget, dropped: Set<string>): Thinking {
  const { capabilities } = target
  const cap = Math.max(
    capabilities.outputTokensMin,
    request.maxOutputTokens ?? target.maxOutputTokens ?? OUTPUT_TOKENS_DEFAULT,
  )
  const off: Thinking = { on: false, maxTokens: cap, fields: {}, outputConfig: {} }
  const { reasoning } = request
  if (reasoning === undefined) return off
  switch (capabilities.reasoning) {
    case 'none':
      if (effortOf(reasoning) !== 'none') dropped.add('reasoning')
      return off
    case 'budget':
      return budgetThinking({ reasoning, request, target, off, dropped })
    case 'adaptive':
      return adaptiveThinking(reasoning, target, off)
    case 'effort':
    case 'level':
      return { ...off, outputConfig: effortConfig(reasoning, target) }
    case 'toggle':
      return effortOf(reasoning) === 'none'
        ? { ...off, fields: { thinking: { type: 'disabled' } } }
        : budgetThinking({ reasoning, request, target, off, dropped })
  }
}

interface BudgetInput {
  readonly reasoning: ReasoningRequest
  readonly request: CanonicalRequest
  readonly target: EncodeTarget
  readonly off: Thinking
  readonly dropped: Set<string>
}

/** If the client did not divide its cap between thinking and answer, the answer keeps a fifth. */
const THOUGHTS_SHARE_MAX = 0.8

/**
 * The thinking budget in tokens, which must fit under the cap; the client's or the model's cap is never raised for it.
 */
function budgetThinking({ reasoning, request, target, off, dropped }: BudgetInput): Thinking {
  const wanted = wantedBudget(reasoning)
  if (wanted === 0) return off
  const isCapped = (request.maxOutputTokens ?? target.maxOutputTokens) !== undefined
  const maxTokens = isCapped ? off.maxTokens : off.maxTokens + wanted
  // A client with a budget of its own has divided the cap itself.
  const own = reasoning.budgetTokens !== undefined && reasoning.budgetTokens > 0
  const room = own ? maxTokens - 1 : Math.floor(maxTokens * THOUGHTS_SHARE_MAX)
  const budget = Math.min(wanted, room)
  if (budget < BUDGET_MIN_TOKENS || lostThoughts(request, target)) {
    dropped.add('reasoning')
    return off
  }
  const display = reasoning.expose === false ? { display: 'omitted' } : {}
  return {
    on: true,
    maxTokens,
    fields: { thinking: { type: 'enabled', budget_tokens: budget, ...display } },
    outputConfig: {},
  }
}

function wantedBudget({ effort, budgetTokens }: ReasoningRequest): number {
  if (budgetTokens !== undefined && budgetTokens >= 0) return budgetTokens
  return budgetForEffort(effort ?? 'medium')
}

/**
 * True if the turn being continued has calls without the thinking that led to them, or with another model's: a model
 * that thinks by budget requires its own thinking before its calls.
 */
function lostThoughts({ turns }: CanonicalRequest, { issuer }: EncodeTarget): boolean {
  const lastQuestion = turns.findLastIndex((turn) => turn.role === 'user')
  return turns.slice(lastQuestion + 1).some(({ parts }) => {
    const [first] = parts
    const own = first?.type === 'reasoning' && mayReplay(first.signature, { protocol: 'messages', issuer })
    return !own && parts.some((part) => part.type === 'tool-call')
  })
}

function adaptiveThinking(reasoning: ReasoningRequest, target: EncodeTarget, off: Thinking): Thinking {
  if (effortOf(reasoning) === 'none') return { ...off, fields: { thinking: { type: 'disabled' } } }
  const shown = reasoning.expose === true || reasoning.summary !== undefined
  const display = shown ? { display: 'summarized' } : reasoning.expose === false ? { display: 'omitted' } : {}
  return {
    ...off,
    on: true,
    fields: { thinking: { type: 'adaptive', ...display } },
    outputConfig: effortConfig(reasoning, target),
  }
}

/** A budget left to the model implies no effort either. */
function effortConfig(reasoning: ReasoningRequest, target: EncodeTarget): JsonObject {
  const effort =
    reasoning.effort === undefined && (reasoning.budgetTokens ?? -1) < 0 ? undefined : effortOf(reasoning)
  if (effort === undefined || effort === 'none') return {}
  const nearest = nearestEffort(effort, target.capabilities.efforts)
  return nearest === undefined || nearest === 'none'
    ? {}
    : { effort: nearest === 'minimal' ? 'low' : nearest }
}

/**
 * The model has no structured output of its own and nothing forbids forcing a tool
 * (docs/protocols.md#structured-output-without-support).
 */
function needsJsonTool(request: CanonicalRequest, target: EncodeTarget, thinks: boolean): boolean {
  return (
    request.output.kind === 'json-schema' &&
    !target.capabilities.jsonSchema &&
    request.tools.length === 0 &&
    !thinks
  )
}

function encodeOutput({ request, target, dropped }: Plan, config: JsonObject): JsonObject {
  const { output } = request
  const native = output.kind === 'json-schema' && target.capabilities.jsonSchema
  if (output.kind === 'json') dropped.add('output')
  const format =
    native && output.kind === 'json-schema'
      ? { format: { type: 'json_schema', schema: toAnthropicSchema(output.schema) } }
      : {}
  const outputConfig = { ...config, ...format }
  return Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }
}

/**
 * The newest models refuse every sampling field, thinking models nearly all, and some accept only one of two
 * (docs/protocols.md#messages-requests).
 */
function encodeSampling({ request, target, dropped, thinks }: Plan): JsonObject {
  const { temperature, topP, topK } = request.sampling
  const { sampling, topK: takesTopK } = target.capabilities
  const free = sampling !== 'none' && !thinks
  const keeps = {
    temperature: free && temperature !== undefined,
    topP: free && topP !== undefined && (sampling !== 'one' || temperature === undefined),
    topK: free && topK !== undefined && takesTopK,
  }
  if (temperature !== undefined && !keeps.temperature) dropped.add('temperature')
  if (topP !== undefined && !keeps.topP) dropped.add('topP')
  if (topK !== undefined && !keeps.topK) dropped.add('topK')
  return {
    ...(keeps.temperature ? { temperature: clampTemperature(temperature ?? 0, target.capabilities) } : {}),
    ...(keeps.topP ? { top_p: topP } : {}),
    ...(keeps.topK ? { top_k: topK } : {}),
  }
}

function encodeStop(plan: Plan): JsonObject {
  const kept = takenStops(plan)
  if (kept.length < plan.request.stop.length) plan.dropped.add('stop')
  return kept.length === 0 ? {} : { stop_sequences: kept }
}

/** Blank sequences are refused upstream. */
function takenStops({ request, target }: Plan): readonly string[] {
  return request.stop.filter((sequence) => sequence.trim() !== '').slice(0, target.capabilities.stopMax)
}

function encodeIdentity({ request, target, dropped }: Plan): JsonObject {
  const { user, serviceTier } = request
  const { capabilities } = target
  const tier = capabilities.serviceTier && serviceTier !== undefined ? TIERS[serviceTier] : undefined
  if (user !== undefined && !capabilities.user) dropped.add('user')
  if (serviceTier !== undefined && tier === undefined) dropped.add('serviceTier')
  return {
    ...(user !== undefined && capabilities.user ? { metadata: { user_id: user } } : {}),
    ...(tier === undefined ? {} : { service_tier: tier }),
  }
}

const TIERS: Readonly<Record<string, string | undefined>> = { auto: 'auto', default: 'standard_only' }
