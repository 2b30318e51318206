import type { FailureWords } from '../../core/routing/failure.ts'

/** A suspended account is answered with 412. */
export const WORDS: FailureWords = { account_suspended: 'quota', precondition_failed: 'quota' }
