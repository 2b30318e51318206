/** Documents of a rerank request, which come as texts or as objects that hold one, for vendors that take texts alone. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'

/** What is no text and holds none stays as it is, for the vendor to refuse. */
export function plainDocuments(documents: JsonValue): JsonValue {
  if (!isJsonArray(documents)) return documents
  return documents.map((one) => (isJsonObject(one) && typeof one['text'] === 'string' ? one['text'] : one))
}
