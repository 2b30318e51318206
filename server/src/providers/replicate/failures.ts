import type { FailureWords } from '../../core/routing/failure.ts'

/** Codes in the text of a failed prediction; others are the platform's own failures. */
export const WORDS: FailureWords = { e005: 'refused-content', e006: 'request' }

/** The error is free text; some texts contain a code. */
export function codeIn(message: string): string | undefined {
  return /\bE\d{3,4}\b/.exec(message)?.[0]
}
