/** Documents of a rerank request, which come as strings or as objects with a text, for vendors that only accept strings. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'

/** Other values are left unchanged, for the vendor to refuse. */
export function plainDocuments(documents: JsonValue): JsonValue {
  if (!isJsonArray(documents)) return documents
  return documents.map((one) => (isJsonObject(one) && typeof one['text'] === 'string' ? one['text'] : one))
}
