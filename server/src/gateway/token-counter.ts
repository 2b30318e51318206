/**
 * Counts tokens where an upstream does not say. The tokenizer's time grows with the square of a run without a break, so
 * texts are counted in slices, and long ones give the event loop its turn between slices.
 */
import { setImmediate as turn } from 'node:timers/promises'

export interface TokenCounter {
  /** For short texts, such as one event of a stream. */
  count(text: string): number
  /** For texts of any length; never blocks for more than one slice. */
  countLong(texts: Iterable<string>): Promise<number>
}

/** Counting 2 kB takes under 2 ms even for noise. */
const SLICE_CHARACTERS = 2_048
/** A run longer than any word; cutting it costs at most a token each. */
const RUN_CHARACTERS = 96
const LONG_RUN = new RegExp(`\\S{${RUN_CHARACTERS}}`, 'g')

/** Loads the vocabulary once, at start: it takes about 200 ms. */
export async function loadTokenCounter(): Promise<TokenCounter> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  const countSlice = (slice: string): number =>
    countTokens(slice.replace(LONG_RUN, '$& '), { allowedSpecial: 'all' })
  const count = (text: string): number => {
    let tokens = 0
    for (let at = 0; at < text.length; at += SLICE_CHARACTERS)
      tokens += countSlice(text.slice(at, at + SLICE_CHARACTERS))
    return tokens
  }
  return {
    count,
    async countLong(texts) {
      let tokens = 0
      let sinceTurn = 0
      for (const text of texts) {
        for (let at = 0; at < text.length; at += SLICE_CHARACTERS) {
          const slice = text.slice(at, at + SLICE_CHARACTERS)
          tokens += countSlice(slice)
          sinceTurn += slice.length
          if (sinceTurn < SLICE_CHARACTERS) continue
          sinceTurn = 0
          await turn()
        }
      }
      return tokens
    },
  }
}
