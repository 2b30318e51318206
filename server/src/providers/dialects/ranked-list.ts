/** Rerank of vendors whose list of results is `data`, as in their embeddings, with documents as plain strings. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { FormRewrite } from '../provider.ts'
import { plainDocuments } from './documents.ts'
import { renamed } from './rename.ts'

/**
 * `names`: the vendor's, by the client's; other fields are dropped. `unsaid`: defaults sent to the vendor unless the
 * client sets them.
 */
export function rankedList(names: Readonly<Record<string, string>>, unsaid: JsonObject = {}): FormRewrite {
  return {
    request: (asked) => {
      const { members, dropped } = renamed(asked, names)
      const documents = plainDocuments(members['documents'] ?? null)
      return { body: { ...unsaid, ...members, documents }, dropped, context: {} }
    },
    answer: ({ data, model, usage }) =>
      isJsonArray(data) ? { model, results: data.map(ranked), usage } : undefined,
  }
}

/** A document is returned as a string; clients expect an object. */
function ranked(item: JsonValue): JsonValue {
  if (!isJsonObject(item) || typeof item['document'] !== 'string') return item
  return { ...item, document: { text: item['document'] } }
}
