/** What all answers of the vendor's own form have in common. */
import { isJsonObject, type JsonObject } from '../../core/json.ts'

export function outputOf({ output }: JsonObject): JsonObject {
  return isJsonObject(output) ? output : {}
}

/** The error of a refused call or of a failed task; undefined: there is none. */
export function errorIn(body: JsonObject): JsonObject | undefined {
  const said = typeof body['code'] === 'string' && body['code'] !== '' ? body : outputOf(body)
  const { code, message } = said
  if (typeof code !== 'string' || code === '') return undefined
  return { code, message: typeof message === 'string' ? message : code }
}
