/** Token counters: this protocol's input total excludes cached tokens (docs/protocols.md#usage). */
import { NO_USAGE, type Usage } from '../../../canonical/usage.ts'
import type { JsonValue } from '../../../json.ts'
import { countOf, listOf, type Maybe, objectOf, textOf } from '../../read-json.ts'
import type { WireUsage } from '../wire.ts'

/** undefined: nothing was counted; imitations of the protocol send zeros before they know (docs/protocols.md#usage). */
export function decodeUsage(value: Maybe): Usage | undefined {
  const usage = objectOf(value)
  if (usage === undefined || !COUNTERS.some((name) => (countOf(usage[name]) ?? 0) > 0)) return undefined
  const written = countOf(usage.cache_creation_input_tokens)
  const written1h = countOf(objectOf(usage.cache_creation)?.ephemeral_1h_input_tokens)
  const top: Usage = {
    input: countOf(usage.input_tokens),
    cachedInput: countOf(usage.cache_read_input_tokens),
    cacheWrite: written === undefined ? undefined : Math.max(0, written - (written1h ?? 0)),
    cacheWrite1h: written1h,
    output: countOf(usage.output_tokens),
    reasoning: countOf(objectOf(usage.output_tokens_details)?.thinking_tokens),
  }
  return compactions(usage.iterations).reduce(addUsage, top)
}

const COUNTERS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
] as const

/**
 * Usage objects of one stream. The end of a stream repeats totals without their parts, so the members are merged before
 * the classes are computed: otherwise tokens cached for an hour would count twice.
 */
export function usageCollector(): (value: Maybe) => Usage | undefined {
  const members: Record<string, JsonValue> = {}
  return (value) => {
    const usage = objectOf(value)
    for (const name of MEMBERS) {
      const member = usage?.[name]
      if (member !== undefined && member !== null) members[name] = member
    }
    return decodeUsage(members)
  }
}

const MEMBERS = [...COUNTERS, 'cache_creation', 'output_tokens_details', 'iterations'] as const

/** The top-level counters exclude the cost of compacting the conversation (docs/protocols.md#messages-answers). */
function compactions(value: Maybe): readonly Usage[] {
  return listOf(value)
    .map(objectOf)
    .filter((iteration) => textOf(iteration?.type) === 'compaction')
    .map((iteration) => ({
      ...NO_USAGE,
      input: countOf(iteration?.input_tokens),
      cachedInput: countOf(iteration?.cache_read_input_tokens),
      cacheWrite: countOf(iteration?.cache_creation_input_tokens),
      output: countOf(iteration?.output_tokens),
    }))
}

function addUsage(left: Usage, right: Usage): Usage {
  return {
    ...left,
    input: add(left.input, right.input),
    cachedInput: add(left.cachedInput, right.cachedInput),
    cacheWrite: add(left.cacheWrite, right.cacheWrite),
    output: add(left.output, right.output),
  }
}

function add(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0)
}

/** Used for counters the upstream did not report: clients' meters need numbers. */
export interface UsageEstimate {
  readonly inputTokens: number
  readonly outputTokens: number
}

export function encodeUsage(usage: Usage, estimate: UsageEstimate, serviceTier?: string): WireUsage {
  const { cacheWrite = 0, cacheWrite1h = 0, cachedInput = 0 } = usage
  return {
    input_tokens: usage.input ?? estimate.inputTokens,
    cache_creation_input_tokens: cacheWrite + cacheWrite1h,
    cache_read_input_tokens: cachedInput,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: usage.output ?? estimate.outputTokens,
    ...(usage.reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: usage.reasoning } }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
  }
}

/** About four characters a token: good enough for a context meter, never used for billing. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}
