import type { Usage } from '../canonical/usage.ts'
import { type CounterPaths, type Counters, createCounterReader, minus, type UsageReader } from './counters.ts'

type Name = 'prompt' | 'toolPrompt' | 'cached' | 'candidates' | 'thoughts' | 'total'

const PATHS: CounterPaths<Name> = {
  prompt: [['promptTokenCount']],
  toolPrompt: [['toolUsePromptTokenCount']],
  cached: [['cachedContentTokenCount']],
  // `responseTokenCount` is what the live variant of the API calls it.
  candidates: [['candidatesTokenCount'], ['responseTokenCount']],
  thoughts: [['thoughtsTokenCount']],
  total: [['totalTokenCount']],
}

export function createGeminiUsageReader(): UsageReader {
  return createCounterReader(PATHS, toUsage)
}

/** Prompt includes what was cached; candidates exclude thoughts, except where the total says otherwise (reference §2.5). */
function toUsage(counters: Partial<Counters<Name>>): Usage {
  const { prompt, toolPrompt, cached, candidates, thoughts, total } = counters
  const input = prompt === undefined ? undefined : prompt + (toolPrompt ?? 0)
  const inclusive = thoughts !== undefined && thoughts > 0 && total === (input ?? 0) + (candidates ?? 0)
  return {
    input: minus(input, cached),
    cachedInput: cached,
    cacheWrite: undefined,
    cacheWrite1h: undefined,
    output:
      candidates === undefined && thoughts === undefined
        ? undefined
        : inclusive
          ? candidates
          : (candidates ?? 0) + (thoughts ?? 0),
    reasoning: thoughts,
  }
}
