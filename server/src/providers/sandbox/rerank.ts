/** Documents ordered by the number of words they share with the query. */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { SANDBOX_RERANK_MODEL } from './models.ts'
import { type Answered, Mistake, oneModel } from './respond-one.ts'
import { countTokens } from './tokens.ts'

const DOCUMENTS_MAX = 1_000

export const sandboxRerank = oneModel({
  protocol: 'rerank',
  path: '/rerank',
  model: SANDBOX_RERANK_MODEL,
  answer,
})

function answer(body: JsonObject, { id }: { readonly id: string }): Answered {
  const { query } = body
  const documents = documentsOf(body['documents'])
  if (typeof query !== 'string' || query === '')
    return new Mistake("'query' must be a text.", 'invalid_query')
  if (documents === undefined || documents.length === 0 || documents.length > DOCUMENTS_MAX)
    return new Mistake(`'documents' must be up to ${DOCUMENTS_MAX} texts.`, 'invalid_documents')
  const wanted = wordsOf(query)
  const results = documents
    .map((text, index) => ({ index, relevance_score: shareOf(wanted, wordsOf(text)), document: { text } }))
    .toSorted((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, countOf(body['top_n']) ?? documents.length)
    .map(({ document, ...ranked }) => (body['return_documents'] === true ? { ...ranked, document } : ranked))
  const tokens = countTokens(documents) + documents.length * countTokens([query])
  return { id, model: SANDBOX_RERANK_MODEL, results, usage: { total_tokens: tokens } }
}

function documentsOf(value: JsonValue | undefined): readonly string[] | undefined {
  if (!isJsonArray(value)) return undefined
  const texts = value.map((one) => (isJsonObject(one) ? one['text'] : one))
  return texts.every((text): text is string => typeof text === 'string') ? texts : undefined
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
}

/** From 0 to 1. */
function shareOf(wanted: ReadonlySet<string>, found: ReadonlySet<string>): number {
  return wanted.size === 0 ? 0 : [...wanted].filter((word) => found.has(word)).length / wanted.size
}

function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined
}
