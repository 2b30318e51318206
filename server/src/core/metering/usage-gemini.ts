import { type Counters, minus, usageReaders } from './counters.ts'

type Name = 'prompt' | 'toolPrompt' | 'cached' | 'candidates' | 'thoughts' | 'total'

/**
 * Prompt includes what was cached; candidates exclude thoughts, except where the total says otherwise
 * (docs/protocols.md#usage).
 */
export const createGeminiUsageReader = usageReaders<Name>({
  places: {
    prompt: ['promptTokenCount'],
    toolPrompt: ['toolUsePromptTokenCount'],
    cached: ['cachedContentTokenCount'],
    candidates: ['candidatesTokenCount'],
    thoughts: ['thoughtsTokenCount'],
    total: ['totalTokenCount'],
  },
  toUsage: (counters) => ({
    input: minus(inputOf(counters), counters.cached),
    cachedInput: counters.cached,
    cacheWrite: undefined,
    cacheWrite1h: undefined,
    output: outputOf(counters),
    reasoning: counters.thoughts,
  }),
})

function inputOf({ prompt, toolPrompt }: Counters<Name>): number | undefined {
  return prompt === undefined ? undefined : prompt + (toolPrompt ?? 0)
}

function outputOf(counters: Counters<Name>): number | undefined {
  const { candidates, thoughts, total } = counters
  if (candidates === undefined || thoughts === undefined) return candidates ?? thoughts
  const inclusive = total === (inputOf(counters) ?? 0) + candidates
  return inclusive ? candidates : candidates + thoughts
}
