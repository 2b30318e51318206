/** Sources of an answer: `annotations[url_citation]` of a text part. */
import type { Citation } from '../../../canonical/response.ts'
import { isJsonObject, type JsonObject } from '../../../json.ts'
import { countOf, listOf, type Maybe, wordOf } from '../../read-json.ts'

export function decodeAnnotations(value: Maybe): readonly Citation[] {
  return listOf(value).flatMap((entry) => decodeAnnotation(entry) ?? [])
}

/** Citations of files point into a provider's own storage; only addresses have a meaning elsewhere. */
export function decodeAnnotation(annotation: Maybe): Citation | undefined {
  if (!isJsonObject(annotation)) return undefined
  const url = wordOf(annotation.url)
  if (url === undefined) return undefined
  return {
    url,
    title: wordOf(annotation.title),
    startIndex: countOf(annotation.start_index),
    endIndex: countOf(annotation.end_index),
  }
}

export function encodeAnnotation({ url, title, startIndex, endIndex }: Citation): JsonObject {
  return {
    type: 'url_citation',
    start_index: startIndex ?? 0,
    end_index: endIndex ?? 0,
    url,
    title: title ?? '',
  }
}
