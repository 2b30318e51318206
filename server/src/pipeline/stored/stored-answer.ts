import type { JsonValue } from '../../core/json.ts'

/** The answer to a request about a stored response. */
export interface StoredAnswer {
  readonly status: number
  /** Bytes are JSON already. */
  readonly body: JsonValue | Uint8Array
}
