/** The class of a failed task by the vendor's own code: the same words as for its refused calls. */
import type { JsonValue } from '../../core/json.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
import type { VideoFailure } from '../video.ts'
import { taskClassOf } from './failure.ts'

export interface VendorError {
  readonly code: string | undefined
  readonly message: string | undefined
  readonly body: JsonValue | undefined
  readonly words: FailureWords
}

/** A code no list knows is the vendor's own trouble: only what it names as ours is laid on the client. */
export function failureOf({ code, message, body, words }: VendorError): VideoFailure {
  const { kind } = classifyFailure(
    { status: 200, headers: {}, body: { error: { code: code ?? null } } },
    words,
  )
  return { class: taskClassOf(kind), code: code ?? 'failed', message: message ?? '', body }
}
