/** Building blocks for descriptions of calls. */
import type { JsonObject } from '../../../core/json.ts'
import type { Tag } from './tags.ts'

export interface DescribedCall {
  readonly method: 'get' | 'post' | 'delete'
  /** Path as written in the document. */
  readonly path: string
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  readonly request?: JsonObject
  readonly multipart?: JsonObject
  readonly answer: JsonObject
  /** Content type of the successful answer; absent: JSON. */
  readonly answerType?: string
  /** Schema of one event of a stream, if the client asked for one. */
  readonly event?: JsonObject
  /** Further successful answers, by status. */
  readonly also?: JsonObject
  readonly error: JsonObject
  /** Gateway errors that a client has to expect, by code. */
  readonly codes: readonly number[]
  readonly parameters?: readonly JsonObject[]
}

export const text: JsonObject = { type: 'string' }
export const whole: JsonObject = { type: 'integer' }
export const any: JsonObject = {}
export const object: JsonObject = { type: 'object' }

export const open = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: true,
})

export const list = (items: JsonObject): JsonObject => ({ type: 'array', items })

export const MODEL: JsonObject = { type: 'string', description: 'Platform model id.' }
export const STREAM: JsonObject = { type: 'boolean', default: false }

/** No key, or one that may not call. */
export const KEY_CODES = [40001, 40101, 40102, 40103, 40301, 40302, 40303]
const LIMIT_CODES = [42901, 42902, 42903, 42904, 42905, 42906, 42910]
export const PLACE_CODES = [50000, 50201, 50301, 50401]
const BODY_CODES = [40000, 40002, 40003, 41301]
export const GENERATING = [
  ...BODY_CODES,
  ...KEY_CODES,
  40202,
  40203,
  40400,
  40403,
  ...LIMIT_CODES,
  ...PLACE_CODES,
]
export const COUNTING = [...BODY_CODES, ...KEY_CODES, 40203, 40400, 40403, ...PLACE_CODES]

/** A value in the path of a call. */
export const pathParameter = (name: string, description: string): JsonObject => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: text,
})
