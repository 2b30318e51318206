import type { FailureWords } from '../../core/routing/failure.ts'

/** Numbers in a top-level `code`. */
export const WORDS: FailureWords = {
  20012: 'not-found',
  20015: 'request',
  30001: 'quota',
  30011: 'quota',
  50505: 'overloaded',
  50603: 'overloaded',
}
