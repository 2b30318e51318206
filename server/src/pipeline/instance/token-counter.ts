/**
 * Counts tokens where an upstream does not say. The tokenizer's time grows with the square of a run without a break, so
 * texts are counted in slices, and long ones give the event loop its turn between slices.
 */
import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'

export interface TokenCounter {
  /** Reads the vocabulary, which takes about 200 ms, before somebody has to wait for it. */
  load(): void
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

/** Most upstreams say what they used, and a start does not wait for what few calls need. */
export function createTokenCounter(): TokenCounter {
  let vocabulary: Vocabulary | undefined
  const countSlice = (slice: string): number => {
    vocabulary ??= readVocabulary()
    return vocabulary.countTokens(slice.replace(LONG_RUN, '$& '), { allowedSpecial: 'all' })
  }
  const count = (text: string): number => {
    let tokens = 0
    for (let at = 0; at < text.length; at += SLICE_CHARACTERS)
      tokens += countSlice(text.slice(at, at + SLICE_CHARACTERS))
    return tokens
  }
  return {
    load() {
      vocabulary ??= readVocabulary()
    },
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

/** What is used of the library. */
interface Vocabulary {
  countTokens(text: string, options: { readonly allowedSpecial: 'all' }): number
}

/** Without a promise: whoever counts the text of a stream cannot wait. */
function readVocabulary(): Vocabulary {
  const read: unknown = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base')
  if (isVocabulary(read)) return read
  throw new Error('gpt-tokenizer offers no countTokens')
}

function isVocabulary(value: unknown): value is Vocabulary {
  return typeof value === 'object' && value !== null && 'countTokens' in value
}
