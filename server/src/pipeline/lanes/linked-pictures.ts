/** Puts the bytes of an answer's images (`data[].url`) into it (`data[].b64_json`). */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { parseJson } from '../attempt/classify.ts'
import type { Bytes } from './lane.ts'

/** Returns base64 by address; an image that is missing keeps its address. */
export type FetchPictures = (urls: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** The bytes are inserted directly: encoding them as JSON would block every other call. */
export async function withPictures(
  answer: readonly Bytes[],
  fetch: FetchPictures,
): Promise<readonly Bytes[]> {
  const told = parseJson(Buffer.concat(answer.map((piece) => Buffer.from(piece))))
  const data = isJsonObject(told) ? told['data'] : undefined
  if (!isJsonObject(told) || !isJsonArray(data)) return answer
  const urls = data.map(urlOf).filter((url) => url !== undefined)
  if (urls.length === 0) return answer
  const fetched = await fetch(urls)
  const { data: _data, ...rest } = told
  const items = data.flatMap((item, at) => [at === 0 ? '' : ',', ...written(item, fetched)])
  return [opened({ ...rest, data: [] }, ']}'), ...items, ']}']
}

function urlOf(item: JsonValue): string | undefined {
  const url = isJsonObject(item) ? item['url'] : undefined
  return typeof url === 'string' ? url : undefined
}

function written(item: JsonValue, fetched: ReadonlyMap<string, string>): readonly string[] {
  const url = urlOf(item)
  const bytes = url === undefined ? undefined : fetched.get(url)
  if (bytes === undefined || !isJsonObject(item)) return [JSON.stringify(item)]
  const { url: _url, ...rest } = item
  return [opened({ ...rest, b64_json: '' }, '"}'), bytes, '"}']
}

/** The text of the object without its end: the value of its last member follows. */
function opened(value: JsonObject, end: string): string {
  return JSON.stringify(value).slice(0, -end.length)
}
