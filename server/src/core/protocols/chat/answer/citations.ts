/** Sources of an answer: `annotations[url_citation]`, and Perplexity's bare list of addresses. */
import type { Citation } from '../../../canonical/response.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import { countOf, listOf, objectOf, wordOf, type Maybe } from '../../read-json.ts'

export function decodeAnnotations(value: Maybe): readonly Citation[] {
  return listOf(value).flatMap((entry) => (isJsonObject(entry) ? (decodeAnnotation(entry) ?? []) : []))
}

function decodeAnnotation(annotation: JsonObject): Citation | undefined {
  // Some vendors omit the inner object.
  const cited = objectOf(annotation.url_citation) ?? annotation
  const url = wordOf(cited.url)
  if (url === undefined) return undefined
  return {
    url,
    title: wordOf(cited.title),
    startIndex: countOf(cited.start_index),
    endIndex: countOf(cited.end_index),
  }
}

/** Perplexity: `search_results` with titles, `citations` with addresses only; both repeated on every chunk. */
export function decodeSources(body: JsonObject): readonly Citation[] {
  const results = decodeAnnotations(body.search_results)
  if (results.length > 0) return results
  return listOf(body.citations).flatMap((url) =>
    typeof url === 'string' ? [{ url, title: undefined, startIndex: undefined, endIndex: undefined }] : [],
  )
}

/** `offset`: where the cited block begins in the message's joined text. */
export function encodeAnnotation(citation: Citation, offset: number): JsonObject {
  const { url, title, startIndex, endIndex } = citation
  return {
    type: 'url_citation',
    url_citation: {
      start_index: offset + (startIndex ?? 0),
      end_index: offset + (endIndex ?? 0),
      url,
      title: title ?? '',
    },
  }
}
