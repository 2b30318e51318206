import { isJsonObject, type JsonValue } from '../../json.ts'

/** The part of an event or body that an error reader understands: the object with the `error` member. */
export function errorIn(raw: JsonValue): JsonValue {
  if (!isJsonObject(raw)) return raw
  // `response.failed` carries the whole response; its `error` says what happened.
  if (raw.error === undefined && isJsonObject(raw.response) && isJsonObject(raw.response.error)) {
    return { error: raw.response.error }
  }
  return raw
}
