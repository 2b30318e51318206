/** Token counters: the prompt holds what was cached, the candidates leave thoughts out (docs/protocols.md#usage). */
import type { Usage } from '../../../canonical/usage.ts'
import type { JsonValue } from '../../../json.ts'
import { countOf, type Maybe, objectOf } from '../../read-json.ts'
import type { WireUsage } from '../wire.ts'

/**
 * undefined: nothing was counted. Until the end, Vertex sends only its traffic type, others zeros
 * (docs/protocols.md#usage).
 */
export function decodeUsage(value: Maybe): Usage | undefined {
  const usage = objectOf(value)
  const prompt = countOf(usage?.promptTokenCount)
  const candidates = countOf(usage?.candidatesTokenCount)
  const thoughts = countOf(usage?.thoughtsTokenCount)
  if ([prompt, candidates, thoughts].every((count) => count === undefined || count === 0)) return undefined
  const cached = countOf(usage?.cachedContentTokenCount)
  const total = countOf(usage?.totalTokenCount)
  const whole = prompt === undefined ? undefined : prompt + (countOf(usage?.toolUsePromptTokenCount) ?? 0)
  return {
    input: whole === undefined ? undefined : Math.max(0, whole - (cached ?? 0)),
    cachedInput: cached,
    cacheWrite: undefined,
    cacheWrite1h: undefined,
    output: outputOf({ whole, candidates, thoughts, total }),
    reasoning: thoughts,
  }
}

/**
 * Usage objects of one stream. A chunk may repeat a total without its parts, so the members are merged before the
 * classes are computed: otherwise cached tokens would count twice.
 */
export function usageCollector(): (value: Maybe) => Usage | undefined {
  const members: Record<string, JsonValue> = {}
  return (value) => {
    const usage = objectOf(value)
    if (usage === undefined) return undefined
    for (const name of MEMBERS) {
      const member = usage[name]
      if (member !== undefined && member !== null) members[name] = member
    }
    return decodeUsage(members)
  }
}

const MEMBERS = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
] as const

interface Counters {
  readonly whole: number | undefined
  readonly candidates: number | undefined
  readonly thoughts: number | undefined
  readonly total: number | undefined
}

/** Some versions count thoughts among the candidates; then prompt and candidates already make the total. */
function outputOf({ whole, candidates, thoughts, total }: Counters): number | undefined {
  if (candidates === undefined || thoughts === undefined) return candidates ?? thoughts
  return total === (whole ?? 0) + candidates ? candidates : candidates + thoughts
}

/** Used for counters the upstream did not report: clients' meters need numbers. */
export interface UsageEstimate {
  readonly inputTokens: number
  readonly outputTokens: number
}

export function encodeUsage(usage: Usage, estimate: UsageEstimate): WireUsage {
  const { cachedInput, reasoning, cacheWrite = 0, cacheWrite1h = 0 } = usage
  const prompt = (usage.input ?? estimate.inputTokens) + (cachedInput ?? 0) + cacheWrite + cacheWrite1h
  const output = usage.output ?? estimate.outputTokens
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, output - (reasoning ?? 0)),
    totalTokenCount: prompt + output,
    ...(cachedInput === undefined ? {} : { cachedContentTokenCount: cachedInput }),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
  }
}
