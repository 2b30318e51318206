import { isJsonObject, type JsonValue } from '../json.ts'
import { errorWords, type UpstreamFailure } from './failure.ts'

const CODES: ReadonlySet<string> = new Set([
  'invalid_encrypted_content',
  'encrypted_content_invalid',
  'invalid_signature',
  'invalid_thinking_signature',
  'thought_signature_invalid',
])

/** The fields of such blobs, as named in the vendors' messages. */
const PLACES = /\b(signature|encrypted[_ ]content|thought[_ ]?signature|thinking|redacted_thinking)\b/i

/**
 * The upstream cannot read reasoning that was sent back to it. Two of three vendors give no code of their own
 * (docs/protocols.md#trap-23), so the message of a refused request is also searched for the field it names; the only
 * consequence is one more attempt without that field.
 */
export function refusesSignatures(failure: UpstreamFailure): boolean {
  if (failure.status !== 400 && failure.status !== 422 && failure.status !== 200) return false
  if (errorWords(failure.body).some((word) => CODES.has(word))) return true
  return PLACES.test(messageOf(failure.body))
}

/** Limited, because an error may quote the whole request. */
const MESSAGE_LENGTH_MAX = 2_000

function messageOf(body: JsonValue | undefined): string {
  const outer: unknown = Array.isArray(body) ? body[0] : body
  if (!isJsonObject(outer)) return ''
  const response = isJsonObject(outer['response']) ? outer['response']['error'] : undefined
  const error = isJsonObject(outer['error']) ? outer['error'] : isJsonObject(response) ? response : outer
  const { message, param } = error
  const words = [message, param].filter((word) => typeof word === 'string')
  return words.join(' ').slice(0, MESSAGE_LENGTH_MAX)
}
