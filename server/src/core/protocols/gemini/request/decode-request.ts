/** A Gemini client's request in canonical form. The model and whether to stream are in the path, not here. */
import { BUDGET_AUTO, effortForLevel, isGeminiLevel } from '../../../canonical/effort.ts'
import { isJsonArray, nestsTooDeep } from '../../../canonical/json-text.ts'
import type { CanonicalRequest, OutputFormat, ReasoningRequest } from '../../../canonical/request.ts'
import { toJsonSchema } from '../../../canonical/tools/schema.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { Decoded, Refused } from '../../protocol.ts'
import { flagOf, listOf, type Maybe, numberOf, objectOf, textOf, wordOf } from '../../read-json.ts'
import { isRefused, refused } from '../../refusal.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import { decodeConversation } from './decode-turns.ts'
import { camelName, member } from '../wire.ts'

export function decodeRequest(body: JsonObject): Decoded<CanonicalRequest> {
  const config = objectOf(member(body, 'generationConfig')) ?? {}
  const refusal = refuseState(body) ?? refuseNumbers(config)
  if (refusal !== undefined) return refusal
  const dropped = new Set<string>([
    ...unknownMembers(body, KNOWN, ''),
    ...unknownMembers(config, KNOWN_CONFIG, 'generationConfig.'),
  ])
  const conversation = decodeConversation(body, dropped)
  if (isRefused(conversation)) return conversation
  const tools = decodeTools(body.tools, dropped)
  if (isRefused(tools)) return tools
  const toolChoice = decodeToolChoice(member(body, 'toolConfig'), tools, dropped)
  if (isRefused(toolChoice)) return toolChoice
  const output = decodeOutput(config, dropped)
  if (isRefused(output)) return output
  const stop = member(config, 'stopSequences')
  if (!isTexts(stop)) return refused('generationConfig.stopSequences', 'must be an array of strings')
  dropModalities(config, dropped)
  const value: CanonicalRequest = {
    tools,
    toolChoice,
    parallelToolCalls: undefined,
    maxOutputTokens: numberOf(member(config, 'maxOutputTokens')),
    sampling: {
      temperature: numberOf(config.temperature),
      topP: numberOf(member(config, 'topP')),
      topK: numberOf(member(config, 'topK')),
      presencePenalty: numberOf(member(config, 'presencePenalty')),
      frequencyPenalty: numberOf(member(config, 'frequencyPenalty')),
      seed: numberOf(config.seed),
    },
    stop: stop ?? [],
    output,
    reasoning: decodeReasoning(objectOf(member(config, 'thinkingConfig'))),
    stream: false,
    includeUsage: true,
    candidates: numberOf(member(config, 'candidateCount')),
    logprobs: decodeLogprobs(config),
    verbosity: undefined,
    user: undefined,
    metadata: undefined,
    serviceTier: decodeServiceTier(member(body, 'serviceTier')),
    promptCacheKey: undefined,
    cacheAll: undefined,
    state: { store: undefined, previousResponseId: undefined },
    ...conversation,
  }
  return { kind: 'decoded', value, dropped: [...dropped] }
}

/** A cached content holds part of the conversation at Google, where only Google can read it. */
function refuseState(body: JsonObject): Refused | undefined {
  const cached = wordOf(member(body, 'cachedContent'))
  return cached === undefined
    ? undefined
    : refused('cachedContent', 'exists only at the upstream that holds it: send the content itself')
}

const NUMBERS = [
  'maxOutputTokens',
  'topP',
  'topK',
  'candidateCount',
  'presencePenalty',
  'frequencyPenalty',
] as const

function refuseNumbers(config: JsonObject): Refused | undefined {
  const values: readonly (readonly [string, Maybe])[] = [
    ...NUMBERS.map((name) => [name, member(config, name)] as const),
    ['temperature', config.temperature],
    ['seed', config.seed],
  ]
  for (const [name, value] of values) {
    if (value !== undefined && value !== null && numberOf(value) === undefined) {
      return refused(`generationConfig.${name}`, 'must be a number')
    }
  }
  const cap = numberOf(member(config, 'maxOutputTokens'))
  return cap !== undefined && cap < 1
    ? refused('generationConfig.maxOutputTokens', 'must be at least 1')
    : undefined
}

/** Some clients repeat `model` here; only the path counts. */
const KNOWN: ReadonlySet<string> = new Set(
  'model contents systemInstruction tools toolConfig generationConfig serviceTier cachedContent'.split(' '),
)

const KNOWN_CONFIG: ReadonlySet<string> = new Set(
  (
    'temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty ' +
    'frequencyPenalty seed responseMimeType responseSchema responseJsonSchema responseModalities thinkingConfig'
  ).split(' '),
)

function unknownMembers(object: JsonObject, known: ReadonlySet<string>, prefix: string): readonly string[] {
  return Object.keys(object)
    .filter((name) => object[name] !== null && /^[a-zA-Z0-9_]{1,64}$/.test(name))
    .map(camelName)
    .filter((name) => !known.has(name))
    .map((name) => `${prefix}${name}`)
}

function isTexts(value: Maybe): value is readonly string[] | undefined {
  if (value === undefined) return true
  return isJsonArray(value) && value.every((item) => typeof item === 'string')
}

/** Every model gives text; whether it gives images or speech depends on the model, not on the request. */
function dropModalities(config: JsonObject, dropped: Set<string>): void {
  const wanted = listOf(member(config, 'responseModalities'))
  if (wanted.some((modality) => modality !== 'TEXT')) dropped.add('generationConfig.responseModalities')
}

function decodeOutput(config: JsonObject, dropped: Set<string>): OutputFormat | Refused {
  const mimeType = textOf(member(config, 'responseMimeType'))
  if (mimeType === undefined || mimeType === 'text/plain') return { kind: 'text' }
  if (mimeType !== 'application/json') {
    dropped.add('generationConfig.responseMimeType')
    return { kind: 'text' }
  }
  const field = member(config, 'responseJsonSchema') === undefined ? 'responseSchema' : 'responseJsonSchema'
  const schema = member(config, field)
  if (schema === undefined || schema === null) return { kind: 'json' }
  if (objectOf(schema) === undefined) return refused(`generationConfig.${field}`, 'must be an object')
  if (nestsTooDeep(schema)) return refused(`generationConfig.${field}`, 'is nested too deeply')
  return jsonSchema(field === 'responseSchema' ? toJsonSchema(schema) : schema)
}

function jsonSchema(schema: JsonValue): OutputFormat {
  return { kind: 'json-schema', name: undefined, description: undefined, schema, strict: undefined }
}

/** Thoughts are sent only to a client that asks for them. */
function decodeReasoning(thinking: JsonObject | undefined): ReasoningRequest | undefined {
  if (thinking === undefined) return undefined
  const level = textOf(member(thinking, 'thinkingLevel'))?.toUpperCase()
  const budget = numberOf(member(thinking, 'thinkingBudget'))
  const include = flagOf(member(thinking, 'includeThoughts'))
  if (level === undefined && budget === undefined && include === undefined) return undefined
  return {
    effort: isGeminiLevel(level) ? effortForLevel(level) : undefined,
    budgetTokens: budget === undefined ? undefined : Math.max(BUDGET_AUTO, Math.trunc(budget)),
    expose: include,
    summary: include === true ? 'auto' : undefined,
  }
}

function decodeLogprobs(config: JsonObject): CanonicalRequest['logprobs'] {
  if (flagOf(member(config, 'responseLogprobs')) !== true) return undefined
  return { top: numberOf(config.logprobs) ?? 0 }
}

/** In the chat protocol's values, as everywhere in the canonical form. */
function decodeServiceTier(value: Maybe): string | undefined {
  const tier = textOf(value)?.toLowerCase()
  return tier === 'standard' ? 'default' : tier
}
