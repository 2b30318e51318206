import { isJsonObject } from '../../core/json.ts'
import { classifyFailure, type FailureClass, type UpstreamFailure } from '../../core/routing/failure.ts'

/** A 403 that lists `reasons` is the moderation of a prompt; any other is about the key. */
export function classify(failure: UpstreamFailure): FailureClass {
  const error = isJsonObject(failure.body) ? failure.body['error'] : undefined
  const metadata = isJsonObject(error) ? error['metadata'] : undefined
  if (failure.status === 403 && isJsonObject(metadata) && metadata['reasons'] !== undefined) {
    return { kind: 'refused-content' }
  }
  // `error.code` repeats the status, also inside a stream, where the status is 200.
  const code = isJsonObject(error) ? error['code'] : undefined
  const status = failure.status < 300 && typeof code === 'number' ? code : failure.status
  return classifyFailure({ ...failure, status })
}
