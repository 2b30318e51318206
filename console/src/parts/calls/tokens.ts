import type { Call } from '../../api/calls.ts'

/** Tokens of every class of input, and of output; reasoning is part of it. */
export function tokensOf({ usage }: Pick<Call, 'usage'>): {
  readonly input: number
  readonly output: number
} {
  const { input, cached_input, cache_write, cache_write_1h, output } = usage
  return {
    input: (input ?? 0) + (cached_input ?? 0) + (cache_write ?? 0) + (cache_write_1h ?? 0),
    output: output ?? 0,
  }
}
