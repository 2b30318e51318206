/**
 * Counts tokens where an upstream reports none. The tokenizer's time grows with the square of the length of a run without
 * spaces, so texts are counted in slices, and long texts yield to the event loop between slices.
 */
import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'

export interface TokenCounter {
  /** Reads the vocabulary in advance, which takes about 200 ms. */
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

/** The vocabulary is loaded on demand: most upstreams report usage, so few calls need it. */
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

/** The part of the library that is used. */
interface Vocabulary {
  countTokens(text: string, options: { readonly allowedSpecial: 'all' }): number
}

/** Synchronous, because counting the text of a stream cannot wait. */
function readVocabulary(): Vocabulary {
  const read: unknown = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base')
  if (isVocabulary(read)) return read
  throw new Error('gpt-tokenizer offers no countTokens')
}

function isVocabulary(value: unknown): value is Vocabulary {
  return typeof value === 'object' && value !== null && 'countTokens' in value
}
