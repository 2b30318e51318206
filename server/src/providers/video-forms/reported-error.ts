import type { JsonObject } from '../../core/json.ts'
import type { FailureKind } from '../../core/routing/failure.ts'
import { withoutIds } from './failure.ts'

/** An error that a vendor told inside a 200, in OpenAI's form. `kind`: whom it blames. */
export function reportedError({
  code,
  message,
  kind,
}: {
  readonly code: string | undefined
  readonly message: string
  readonly kind: FailureKind
}): JsonObject {
  const isRefused = kind === 'request' || kind === 'refused-content'
  return {
    error: {
      message: withoutIds(message),
      type: isRefused ? 'invalid_request_error' : 'api_error',
      code: code ?? null,
    },
  }
}
