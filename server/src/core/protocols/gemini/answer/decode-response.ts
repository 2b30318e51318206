/** A Gemini upstream's whole answer in canonical form: it has the shape of one complete chunk. */
import { foldStream } from '../../../canonical/fold.ts'
import type { CanonicalResponse } from '../../../canonical/response.ts'
import type { JsonValue } from '../../../json.ts'
import { isJsonArray } from '../../../canonical/json-text.ts'
import { objectOf, wordOf } from '../../read-json.ts'
import { endReading, newReading, pushChunk } from './stream-decoder.ts'

export function decodeResponse(body: JsonValue): CanonicalResponse {
  const reading = newReading()
  // A stream that was not asked for as SSE is an array of chunks.
  const chunks = (isJsonArray(body) ? body : [body]).map((chunk) => objectOf(chunk) ?? {})
  const response = foldStream([
    ...chunks.flatMap((chunk) => pushChunk(reading, chunk)),
    ...endReading(reading),
  ])
  const tier = wordOf(objectOf(chunks.at(-1)?.usageMetadata)?.serviceTier)
  return tier === undefined ? response : { ...response, serviceTier: tier === 'standard' ? 'default' : tier }
}
