/** The class of a failed task by the vendor's own code: the same table as for its refused calls. */
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

/** An unknown code is the vendor's own failure: only codes known to blame the request are attributed to the client. */
export function failureOf({ code, message, body, words }: VendorError): VideoFailure {
  const { kind } = classifyFailure(
    { status: 200, headers: {}, body: { error: { code: code ?? null } } },
    words,
  )
  return { class: taskClassOf(kind), code: code ?? 'failed', message: message ?? '', body }
}
